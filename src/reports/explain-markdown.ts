import { ansibleText } from './ansible-rules.js'
import { addressLink, code, heading, paragraph, sentence, strong } from './page.js'
import { renderMarkdown } from './page-markdown.js'
import { byHandBlocks, proofBlocks } from './proof.js'
import type { Report, ReportedVerdict } from './report.js'
import { sourceText } from './report-text.js'

/** The proof as Markdown, with links to the lines where the commit is known. */
export function renderExplainMarkdown(report: Report, verdict: ReportedVerdict): string {
  const { requirement, condition } = verdict
  return renderMarkdown([
    heading(1, `${verdict.id}: ${verdict.title}`),
    paragraph(
      `${sourceText(report.source)}, `,
      code(report.playbook),
      ', host ',
      code(report.host),
      `. ${ansibleText(report.ansible)}.`,
    ),
    paragraph(...sentence(requirement.says), ' (', addressLink(requirement.source), ')'),
    paragraph(
      strong(verdict.fixedBy),
      ...(condition === null ? [] : [', if ', code(condition)]),
      ': ',
      ...sentence(verdict.asks),
    ),
    ...proofBlocks(report, verdict, 2),
    ...byHandBlocks(verdict, 2),
  ])
}
