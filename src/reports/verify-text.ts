import { visibleText } from '../source/visible.js'
import { jsonLine } from './json-text.js'
import { plain, type Style, wrap } from './style.js'
import type { Mark, MarkedKey, VerifyReport } from './verify.js'

/** The marks for the person who wrote the file: what is wrong and why, then what is right. */
export function renderVerifyText(report: VerifyReport, style: Style = plain): string {
  const { file, kind, host } = report
  const keys = report.keys.map(each => ({
    ...each,
    key: visibleText(each.key),
    because: each.because === null ? null : visibleText(each.because),
  }))
  const title = visibleText(file === null ? `Host ${host}` : `${file} (${kind}.json, host ${host})`)
  const count = (mark: Mark): number => keys.filter(each => each.mark === mark).length
  const width = Math.max(0, ...keys.map(({ key }) => key.length))
  const shade = { right: style.good, wrong: style.bad, unknown: style.unsure }
  const line = ({ key, mark, line: at }: MarkedKey): string =>
    `${shade[mark](mark.padEnd(7))}  ${at === null ? key : `${key.padEnd(width)}  ${style.faint(`line ${at}`)}`}`
  const lines = keys.flatMap(each => {
    const { mark, given, expected, because } = each
    if (mark === 'right') return [line(each)]
    const values =
      file === null
        ? []
        : wrap(
            `given ${jsonLine(given)}, right is ${mark === 'unknown' ? 'not known' : jsonLine(expected)}`,
            '           ',
            '           ',
          )
    return [line(each), ...values, ...(because === null ? [] : wrap(because, '           ', '           '))]
  })
  const total = `${count('right')} right, ${count('wrong')} wrong, ${count('unknown')} not known`
  return `${[style.strong(title), ...lines, '', total].join('\n')}\n`
}
