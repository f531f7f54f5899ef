import type { Definition, Directives } from '../ansible/statement.js'
import type { Value } from '../jinja/value.js'
import type { Node } from '../yaml/node.js'
import type { Role } from './role.js'
import type { AppliedCondition, Step } from './task-run.js'

/**
 * What a statement stands in: play, role entry, import, block or include. Frames form the chain from the play down; what
 * a task inherits (conditions, tags, variables, `environment`) is read off that chain.
 */
export interface Frame {
  readonly kind: Step['kind']
  readonly parent: Frame | undefined
  readonly step: Step
  /** The statement's own keywords; of a play those of the play. */
  readonly directives: Directives
  /** The role whose tasks stand in this frame, itself or through an outer frame. */
  readonly role: Role | undefined
  /** Path of the file whose statements stand in this frame. */
  readonly file: string
  /** Directory of the playbook the play stands in. */
  readonly playbookDirectory: string
  /** Only for a dynamic include: what was decided when the run got there. */
  readonly include?: Include
}

export interface Include {
  /** The include's own conditions as they came out; they are not looked at again inside (rule 90). */
  readonly conditions: readonly AppliedCondition[]
  /** Parameters that hold only inside (`vars:` of the include). */
  readonly parameters: readonly Definition[]
  /** Loop items bound by the include and the includes around it. */
  readonly items: ReadonlyMap<string, Value>
  /** `apply:`: keywords for every task inside. */
  readonly apply: Directives | undefined
}

/** The chain from the outermost frame to this one. */
export function chainOf(frame: Frame): readonly Frame[] {
  const chain: Frame[] = []
  for (let at: Frame | undefined = frame; at; at = at.parent) chain.unshift(at)
  return chain
}

/** A keyword of a task, its own or the nearest it inherits from what it stands in. */
export function inheritedKeyword(frame: Frame, task: Pick<Directives, 'keywords'>, name: string): Node | undefined {
  const own = task.keywords.get(name)?.value
  if (own !== undefined) return own
  for (let at: Frame | undefined = frame; at; at = at.parent) {
    const node = inheritedFrom(at)?.keywords.get(name)?.value
    if (node !== undefined) return node
  }
  return undefined
}

/** What a frame hands on to what stands in it: of a dynamic include only its `apply:`, not the include's own keywords. */
export function inheritedFrom({ include, directives }: Frame): Directives | undefined {
  return include === undefined ? directives : include.apply
}

/** The chain as reports show it, outermost first. */
export function stepsOf(frame: Frame): readonly Step[] {
  return chainOf(frame).map(({ step }) => step)
}

/** The roles the frame stands behind, outermost first, itself last. */
export function rolesOf(frame: Frame): readonly Role[] {
  return frame.role === undefined ? [] : [...frame.role.parents, frame.role]
}

/** The innermost dynamic include a frame stands behind. */
export function includeOf(frame: Frame): Frame | undefined {
  for (let at: Frame | undefined = frame; at; at = at.parent) if (at.include) return at
  return undefined
}
