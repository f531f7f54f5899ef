import type { ExpressionRules } from '../jinja/rules.js'
import { compareVersions } from './versions.js'

/** The rules of playbooks that versions of ansible-core do not share. What is not here is the same in all of them. */
export interface LanguageRules extends ExpressionRules {
  /** The versions they hold for, as reports say it. */
  readonly name: string
  /** `vars:` of an entry in `roles:` win over the role's vars/ (rules 65 and 66). */
  readonly entryVarsWin: boolean
  /** `include:` is still there. */
  readonly includeModule: boolean
  /** `import_role` takes `public:`. */
  readonly importRolePublic: boolean
}

/** By the first version they hold for, newest first; the last also stand for all that is older. */
const editions: readonly (LanguageRules & { readonly since: string })[] = [
  {
    name: '2.19 and later',
    since: '2.19',
    undefinedConditions: 'fail',
    booleanConditions: true,
    nativeResults: true,
    entryVarsWin: true,
    includeModule: false,
    importRolePublic: true,
  },
  {
    name: '2.17 to 2.18',
    since: '2.17',
    undefinedConditions: 'fail',
    booleanConditions: false,
    nativeResults: false,
    entryVarsWin: true,
    includeModule: false,
    importRolePublic: true,
  },
  {
    name: '2.16',
    since: '2.16',
    undefinedConditions: 'fail',
    booleanConditions: false,
    nativeResults: false,
    entryVarsWin: true,
    includeModule: false,
    importRolePublic: false,
  },
  {
    name: '2.15',
    since: '2.15',
    undefinedConditions: 'fail',
    booleanConditions: false,
    nativeResults: false,
    entryVarsWin: true,
    includeModule: true,
    importRolePublic: false,
  },
  {
    name: '2.14 and earlier',
    since: '0',
    undefinedConditions: 'fall back',
    booleanConditions: false,
    nativeResults: false,
    entryVarsWin: false,
    includeModule: true,
    importRolePublic: false,
  },
]

/**
 * The rules of a version of ansible-core. Sources: ansible-core 2.14, 2.15, 2.16, 2.17 and 2.18 run on the same trees
 * (test/conformance/versions.yml); for 2.19 its porting guide and its source, `TemplateEngine.evaluate_conditional`.
 */
export function rulesFor(version: string): LanguageRules {
  // A release candidate of 2.19.0 already goes by the rules of 2.19.
  const series = version.split('.').slice(0, 2).join('.')
  const found = editions.find(({ since }) => compareVersions(series, since) >= 0)
  if (found === undefined) throw new Error(`no rules for ansible-core ${version}`)
  return found
}

/** For a tree that says nothing of its Ansible: what 2.16 to 2.18 have in common, and no complaint about what one lacks. */
export const rulesOfAll: LanguageRules = {
  name: '2.16 to 2.18',
  undefinedConditions: 'fail',
  booleanConditions: false,
  nativeResults: false,
  entryVarsWin: true,
  includeModule: true,
  importRolePublic: true,
}
