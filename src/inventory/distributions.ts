import { type Dict, known } from '../jinja/value.js'

/**
 * Distributions by the name Ansible's setup module gives them (`ansible_distribution`), with the family it puts them in
 * (its OS_FAMILY_MAP; a name that is not in the map is a family of its own).
 */
const families: Readonly<Record<string, string>> = {
  AlmaLinux: 'RedHat',
  Amazon: 'RedHat',
  CentOS: 'RedHat',
  Debian: 'Debian',
  Fedora: 'RedHat',
  'Kylin Linux Advanced Server': 'RedHat',
  OracleLinux: 'RedHat',
  RedHat: 'RedHat',
  Rocky: 'RedHat',
  SLES: 'Suse',
  Ubuntu: 'Debian',
  openEuler: 'RedHat',
  'openSUSE Leap': 'Suse',
  'openSUSE Tumbleweed': 'Suse',
}

/** Distributions Kubernetes is commonly put on, for role code that does not say which it supports. */
export const widespreadDistributions: readonly string[] = Object.keys(families)

/** The facts every host of a distribution has; all others stay unknown. */
export function factsOfDistribution(name: string): Dict {
  return new Map([
    ['distribution', known(name)],
    ['os_family', known(families[name] ?? name)],
  ])
}
