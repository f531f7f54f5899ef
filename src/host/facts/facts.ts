import type { Evidence } from '../../evidence/evidence.js'
import { type Dict, type Key, known, type Value } from '../../jinja/value.js'
import { distributionFacts } from './distribution.js'
import { cpuFacts, memoryFacts } from './hardware.js'
import { networkFacts } from './network.js'
import { commandLineFacts, initSystem, isFips, machineOf, packageTool, platformFacts, selinuxFacts } from './system.js'

/**
 * The facts of a host that its evidence decides, named as in `ansible_facts` and equal to what `ansible -m setup` (ansible-core
 * 2.16 to 2.18) gathers there. A name is left out where the evidence does not decide it; of a mapping that is only partly
 * decided the other members are unknown. Lists of addresses and interfaces are in the order of the names of interfaces: the
 * one Ansible has is the kernel's, and no evidence tells it.
 */
export function factsOf(evidence: Evidence): Dict {
  const { files } = evidence
  const distribution = distributionFacts(evidence)
  const facts = new Map<Key, Value>([...distribution].map(([name, value]) => [name, known(value)]))
  const add = (dict: Dict): void => {
    for (const [name, value] of dict) facts.set(name, value)
  }
  const text = (name: string): string | undefined => {
    const value = distribution.get(name)
    return typeof value === 'string' ? value : undefined
  }
  add(networkFacts(evidence))
  add(platformFacts(evidence))
  add(memoryFacts(files))
  add(cpuFacts(files, machineOf(evidence)))
  add(commandLineFacts(files))
  const family = text('os_family')
  const manager = packageTool(files, family, text('distribution'), text('distribution_major_version'))
  if (manager !== undefined) facts.set('pkg_mgr', known(manager))
  const services = initSystem(files)
  if (services !== undefined) facts.set('service_mgr', known(services))
  const fips = isFips(files)
  if (fips !== undefined) facts.set('fips', known(fips))
  const selinux = selinuxFacts(files, family)
  if (selinux !== undefined) facts.set('selinux', known(selinux))
  return facts
}
