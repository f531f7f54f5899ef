import assert from 'node:assert/strict'
import { portsIn } from '../../src/audit/host/ports.js'

const cases: readonly (readonly [it: string, path: string, text: string, ports: readonly string[]])[] = [
  [
    'hostPort of a DaemonSet, with its protocol',
    'a.yml',
    'kind: DaemonSet\nmetadata: {name: d}\nspec: {template: {spec: {containers: [{name: c, ports: [{containerPort: 53, hostPort: 9253, protocol: UDP}]}]}}}',
    ['9253/udp d/c'],
  ],
  [
    'a port inside the pod is none of the host',
    'a.yml',
    'kind: Pod\nspec: {containers: [{ports: [{containerPort: 80}]}]}\n# hostPort',
    [],
  ],
  [
    'every document of a file, and lists',
    'a.yaml',
    'kind: Service\n---\nkind: List\nitems: [{kind: Pod, metadata: {name: p}, spec: {hostNetwork: true, containers: [{name: c, ports: [{containerPort: 81}]}]}}]',
    ['81 p/c'],
  ],
  [
    'a CronJob',
    'a.yml',
    'kind: CronJob\nmetadata: {name: j}\nspec: {jobTemplate: {spec: {template: {spec: {containers: [{name: c, ports: [{hostPort: 82}]}]}}}}}',
    ['82 j/c'],
  ],
  [
    'the kubelet, with what it listens on where nothing is said',
    'kubelet.yaml',
    'kind: KubeletConfiguration\nreadOnlyPort: 0\nhealthzPort: 10300',
    ['10250 kubelet', '10300 kubelet'],
  ],
  [
    'kube-proxy and kubeadm',
    'kubeadm.yaml',
    'kind: KubeProxyConfiguration\nmetricsBindAddress: 127.0.0.1:10249\nhealthzBindAddress: "[::]:10256"\n---\nkind: InitConfiguration\nlocalAPIEndpoint: {bindPort: 6443}\n---\nkind: ClusterConfiguration\nscheduler: {extraArgs: {secure-port: "10259"}}\ncontrollerManager: {extraArgs: [{name: secure-port, value: "10257"}]}',
    ['10256 kube-proxy', '10249 kube-proxy', '6443 kube-apiserver', '10257 controllerManager', '10259 scheduler'],
  ],
  [
    'nginx without a port, with words in quotes and over lines',
    'nginx.conf',
    'server { listen\n "[::1]:90" udp; listen localhost; # listen 7;\n log "a; listen 8;"; }',
    ['90/udp nginx', '80 nginx'],
  ],
  [
    'haproxy with a range and a name',
    'haproxy.cfg',
    'defaults\n mode tcp\nlisten stats\n bind :9000-9002 name x # bind :1\n server s 10.0.0.1:22',
    ['9000 haproxy stats'],
  ],
  ['what is not known is said to be open', 'nginx.conf', 'listen __unknown__;', ['? nginx']],
  ['a broken file has none', 'a.yml', 'hostPort: [', []],
  ['other files have none', 'a.conf', 'listen 80;', []],
]

describe('ports in written files', () => {
  for (const [it_, path, text, ports] of cases) {
    it(it_, () => {
      assert.deepEqual(
        portsIn(path, text).map(({ port, who }) => `${port} ${who}`),
        ports,
      )
    })
  }
})
