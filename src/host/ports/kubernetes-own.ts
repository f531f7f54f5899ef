import type { Holder } from '../moment.js'

/** What Kubernetes itself listens with: program, ports it is known for (kubernetes.io, "Ports and Protocols"; etcd's own). */
const OWN: readonly { readonly program: string; readonly unit?: string; readonly ports: readonly number[] }[] = [
  { program: 'kubelet', unit: 'kubelet.service', ports: [10250, 10248, 10255] },
  { program: 'kube-apiserver', unit: 'kube-apiserver.service', ports: [6443, 443, 8443] },
  { program: 'kube-controller-manager', unit: 'kube-controller-manager.service', ports: [10257, 10252] },
  { program: 'kube-scheduler', unit: 'kube-scheduler.service', ports: [10259, 10251] },
  { program: 'kube-proxy', unit: 'kube-proxy.service', ports: [10249, 10256] },
  { program: 'etcd', unit: 'etcd.service', ports: [2379, 2380, 2381] },
]

/** `comm` has room for 15 characters. */
const MOST_OF_COMM = 15

/**
 * Whether what holds a port is the part of Kubernetes that the port is for: left by a cluster of before, or by a run that broke
 * off. The port is busy for kubeadm all the same. A container of a pod counts where its program is not known.
 */
export function isKubernetesOwn(holder: Holder, port: number): boolean {
  const own = OWN.find(({ ports }) => ports.includes(port))
  if (own === undefined) return false
  const { program } = holder
  const isProgram = program !== undefined && (program === own.program || program === own.program.slice(0, MOST_OF_COMM))
  if (holder.kind === 'unit')
    return holder.uid === undefined && holder.unit === own.unit && (program === undefined || isProgram)
  if (holder.kind === 'container') return holder.container?.pod === true && (program === undefined || isProgram)
  return holder.kind === 'process' && isProgram
}
