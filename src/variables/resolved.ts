import type { Value } from '../jinja/value.js'
import type { Span } from '../source/text.js'

/** Ansible's name of the precedence level a definition stands at (`role defaults`, `set_fact`, `extra vars`, …). */
export type Origin =
  | 'role defaults'
  | 'inventory file all:vars'
  | 'inventory file group vars'
  | 'inventory group_vars/all'
  | 'playbook group_vars/all'
  | 'inventory group_vars'
  | 'playbook group_vars'
  | 'inventory file host vars'
  | 'inventory host_vars'
  | 'playbook host_vars'
  | 'host facts'
  | 'play vars'
  | 'play vars_prompt'
  | 'play vars_files'
  | 'role vars'
  | 'block vars'
  | 'task vars'
  | 'include_vars'
  | 'registered vars'
  | 'set_fact'
  | 'role params'
  | 'include params'
  | 'extra vars'
  | 'loop item'
  | 'magic variable'

export interface OriginPlace {
  readonly origin: Origin
  readonly at: Span
}

/** A variable as one role sees it: its value, which definition won, and which ones it won over (strongest first). */
export interface ResolvedVariable {
  readonly name: string
  readonly value: Value
  readonly winner: OriginPlace | undefined
  readonly overridden: readonly (OriginPlace & { readonly value: Value })[]
}
