import type { AnalysisRequest, OpenedInventory } from '../../analyze.js'
import { seldomRead } from '../../host/alike/question.js'
import type { Definition } from '../../inventory/inventory.js'
import { type Network, networksIn } from '../../jinja/address-form.js'
import { once } from '../../source/once.js'
import type { SourceTree } from '../../source/tree.js'

/** What role code and variables name: what they do not name cannot tell hosts apart. */
export interface Named {
  /** In which of them an address lies may decide. */
  readonly networks: readonly Network[]
  /** Members of results that nothing reads. */
  readonly unread: ReadonlySet<string>
  /** Whether role code or a variable names a group, or it has variables that one of them names. */
  readonly group: (name: string) => boolean
  /** Whether role code or a variable names a variable, or Ansible itself may read it. */
  readonly variable: (definition: Definition) => boolean
}

/** Reads the texts of role code, playbooks and variables for what they name. A name within a longer word counts. */
export function namedIn(
  tree: SourceTree,
  { inventory, beside }: OpenedInventory,
  { extraVars, playbook }: AnalysisRequest,
): Named {
  const texts: string[] = [...extraVars]
  const definitions = [
    ...[...inventory.groups.values(), ...inventory.hosts.values()].flatMap(({ variables }) => variables),
    ...beside.flatMap(({ definitions: own }) => own),
  ]
  for (const { node } of definitions) texts.push(node.span.file.text.slice(node.span.start, node.span.end))
  const settings: string[] = [...texts]
  const visit = (directory: string, depth: number): void => {
    for (const name of tree.list(directory)) {
      const path = directory === '' ? name : `${directory}/${name}`
      if (tree.entryKind(path) === 'directory') {
        if (depth < 8) visit(path, depth + 1)
      } else if (/\.(?:ya?ml|j2)$/.test(path)) {
        const text = tree.read(path)?.text ?? ''
        // A file of `group_vars` names its group by its path.
        texts.push(path, text)
        if (/(?:^|\/)(?:defaults|vars|group_vars|host_vars)\//.test(path)) settings.push(text)
      }
    }
  }
  for (const top of new Set([...read, playbook.split('/')[0] ?? '']))
    if (tree.entryKind(top) === 'directory') visit(top, 0)
  for (const file of tree.list('')) if (/\.ya?ml$/.test(file)) texts.push(tree.read(file)?.text ?? '')
  const networks = new Map(settings.flatMap(networksIn).map(network => [network.join('/'), network]))
  const all = once(() => texts.join('\n'))
  const known = new Map<string, boolean>()
  const isNamed = (name: string): boolean => {
    const before = known.get(name)
    if (before !== undefined) return before
    const is = all().includes(name)
    known.set(name, is)
    return is
  }
  // Names that are put together may be any.
  const isPutTogether = once(() =>
    /\bvarnames\b|\bvars\s*\[|(?:lookup|query|q)\(\s*['"](?:ansible\.builtin\.)?vars['"]/.test(all()),
  )
  const variable = ({ name, node }: Definition): boolean =>
    node.kind === 'unreadable' || name.startsWith('ansible_') || isNamed(name) || isPutTogether()
  const definedFor = (group: string): readonly Definition[] => [
    ...(inventory.groups.get(group)?.variables ?? []),
    ...beside.flatMap(file => (file.group === group ? file.definitions : [])),
  ]
  const isRead = (name: string): boolean => new RegExp(`[.'"]${name}\\b`).test(all())
  return {
    networks: [...networks.values()],
    unread: new Set(seldomRead.filter(name => !isRead(name))),
    group: name => isNamed(name) || definedFor(name).some(variable),
    variable,
  }
}

/** Directories of a checkout that a run reads. */
const read = ['roles', 'playbooks', 'extra_playbooks', 'group_vars', 'host_vars']
