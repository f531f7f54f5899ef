import { entryOf, type MapNode, type Node } from '../../yaml/node.js'
import { readYaml } from '../../yaml/read.js'
import { HOLE } from './written-text.js'

/** A port that a file makes something on the host listen on. */
export interface ListeningPort {
  /** As written; a path for a socket is none. */
  readonly port: string
  /** What listens: a container, `kubelet`, a section of a proxy. */
  readonly who: string
}

/** Whether a file of this name is one that ports are looked for in. */
export function mayHavePorts(path: string): boolean {
  return /\.(?:ya?ml|manifest)$|(?:^|\/)(?:nginx[^/]*\.conf|haproxy[^/]*\.cfg)$/.test(path)
}

/**
 * The ports that a written file makes something on the host listen on: manifests with `hostPort` or `hostNetwork`, the
 * configuration of the kubelet, of kube-proxy and of kubeadm, of nginx and of haproxy. Only ports that are written out as
 * numbers; nothing for other files.
 */
export function portsIn(path: string, text: string): readonly ListeningPort[] {
  const name = path.slice(path.lastIndexOf('/') + 1)
  if (/^nginx.*\.conf$/.test(name)) return portsOfNginx(text)
  if (/^haproxy.*\.cfg$/.test(name)) return portsOfHaproxy(text)
  if (!/\.(?:ya?ml|manifest)$/.test(name) || !mayListen.test(text)) return []
  return readYaml({ path, text }, () => {}).flatMap(portsOfDocument)
}

/** Files without these words have no ports to find; they need no reading. */
const mayListen = /hostPort|hostNetwork|KubeletConfiguration|KubeProxyConfiguration|bindPort|ClusterConfiguration/

function portsOfDocument(document: Node): readonly ListeningPort[] {
  if (document.kind !== 'map') return []
  switch (textAt(document, 'kind')) {
    case 'List': {
      const items = at(document, 'items')
      return items?.kind === 'list' ? items.items.flatMap(portsOfDocument) : []
    }
    case 'KubeletConfiguration':
      return portsNamed(document, 'kubelet', { port: '10250', readOnlyPort: undefined, healthzPort: '10248' })
    case 'KubeProxyConfiguration':
      return [
        ...addressPort(document, 'healthzBindAddress', 'kube-proxy'),
        ...addressPort(document, 'metricsBindAddress', 'kube-proxy'),
      ]
    case 'InitConfiguration':
    case 'JoinConfiguration': {
      const endpoint =
        at(document, 'localAPIEndpoint') ?? at(mapAt(document, 'controlPlane') ?? document, 'localAPIEndpoint')
      return endpoint?.kind === 'map' ? portsNamed(endpoint, 'kube-apiserver', { bindPort: undefined }) : []
    }
    case 'ClusterConfiguration':
      return ['apiServer', 'controllerManager', 'scheduler'].flatMap(part => portsOfExtraArgs(document, part))
    default:
      return podsIn(document).flatMap(portsOfPod)
  }
}

/** Ports that kubeadm's extra arguments give a component: `secure-port`, `bind-port`. */
function portsOfExtraArgs(document: MapNode, part: string): readonly ListeningPort[] {
  const args = at(mapAt(document, part) ?? document, 'extraArgs')
  const given: (readonly [string, string])[] =
    args?.kind === 'map'
      ? args.entries.flatMap(({ key, value }) => {
          const text = scalarText(value)
          return text === undefined ? [] : [[String(key.data), text] as const]
        })
      : args?.kind === 'list'
        ? args.items.flatMap(item => {
            const [name, value] = item.kind === 'map' ? [textAt(item, 'name'), textAt(item, 'value')] : []
            return name === undefined || value === undefined ? [] : [[name, value] as const]
          })
        : []
  return given.flatMap(([name, value]) =>
    /^(?:secure|bind|insecure|healthz)-port$|^port$/.test(name) ? listening(value, part) : [],
  )
}

/** Where a manifest has the description of a pod. */
function podsIn(document: MapNode): readonly { readonly spec: MapNode; readonly name: string }[] {
  const metadata = mapAt(document, 'metadata')
  const name = (metadata && textAt(metadata, 'name')) ?? textAt(document, 'kind') ?? ''
  const spec = mapAt(document, 'spec')
  if (spec === undefined) return []
  if (textAt(document, 'kind') === 'Pod') return [{ spec, name }]
  const inJob = mapAt(mapAt(spec, 'jobTemplate') ?? document, 'spec')
  const template = mapAt(spec, 'template') ?? mapAt(inJob ?? document, 'template')
  const inner = template && mapAt(template, 'spec')
  return inner === undefined ? [] : [{ spec: inner, name }]
}

function portsOfPod({ spec, name }: { readonly spec: MapNode; readonly name: string }): readonly ListeningPort[] {
  const hostNetwork = textAt(spec, 'hostNetwork') === 'true'
  const containers = ['containers', 'initContainers'].flatMap(key => {
    const list = at(spec, key)
    return list?.kind === 'list' ? list.items : []
  })
  return containers.flatMap(container => {
    const ports = container.kind === 'map' ? at(container, 'ports') : undefined
    if (container.kind !== 'map' || ports?.kind !== 'list') return []
    const who = `${name}/${textAt(container, 'name') ?? ''}`
    return ports.items.flatMap(port => {
      if (port.kind !== 'map') return []
      const open = textAt(port, 'hostPort') ?? (hostNetwork ? textAt(port, 'containerPort') : undefined)
      return listening(open, who, textAt(port, 'protocol'))
    })
  })
}

function portsNamed(
  map: MapNode,
  who: string,
  names: Readonly<Record<string, string | undefined>>,
): readonly ListeningPort[] {
  return Object.entries(names).flatMap(([name, usual]) => listening(textAt(map, name) ?? usual, who))
}

function addressPort(map: MapNode, name: string, who: string): readonly ListeningPort[] {
  const address = textAt(map, name)
  return listening(address === undefined ? undefined : /:(\d+|__unknown__)$/.exec(address)?.[1], who)
}

/** A port that is somewhere in the file and not known. */
export const ANY_PORT = '?'

/** Port 0 is one that is turned off. */
function listening(port: string | undefined, who: string, protocol = 'TCP'): readonly ListeningPort[] {
  if (port?.includes(HOLE)) return [{ port: ANY_PORT, who }]
  if (port === undefined || !/^[1-9]\d{0,4}$/.test(port)) return []
  return [{ port: protocol === 'TCP' ? port : `${port}/${protocol.toLowerCase()}`, who }]
}

function at(map: MapNode, key: string): Node | undefined {
  return entryOf(map, key)?.value
}

function mapAt(map: MapNode, key: string): MapNode | undefined {
  const value = at(map, key)
  return value?.kind === 'map' ? value : undefined
}

function textAt(map: MapNode, key: string): string | undefined {
  const value = at(map, key)
  return value === undefined ? undefined : scalarText(value)
}

function scalarText(node: Node): string | undefined {
  return node.kind === 'scalar' && node.data !== null ? String(node.data) : undefined
}

/** nginx: directives end with `;`, contexts stand in braces, `#` begins a comment, quotes keep words together. */
function portsOfNginx(text: string): readonly ListeningPort[] {
  const found: ListeningPort[] = []
  let words: string[] = []
  for (const [token] of text.matchAll(/#[^\n]*|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[;{}]|[^\s;{}"']+/g)) {
    if (token.startsWith('#')) continue
    if (token !== ';' && token !== '{' && token !== '}') {
      words.push(token.replaceAll(/^["']|["']$/g, ''))
      continue
    }
    const [directive, address] = words
    // Without a port it is 80; an address may be `127.0.0.1:6443`, `[::1]:6443`, `*:6443`, `6443`.
    if (token === ';' && directive === 'listen' && address !== undefined && !address.startsWith('unix:')) {
      const port = /^(?:.*:)?(\d+)$/.exec(address)?.[1] ?? (address.includes(HOLE) ? HOLE : '80')
      found.push(...listening(port, 'nginx', words.includes('udp') ? 'UDP' : 'TCP'))
    }
    words = []
  }
  return found
}

/** haproxy: a keyword a line, in sections; `bind` takes addresses with commas, a port or a range of ports each. */
function portsOfHaproxy(text: string): readonly ListeningPort[] {
  let section = ''
  return text.split('\n').flatMap(line => {
    const [keyword, ...words] = line.replace(/#.*$/, '').trim().split(/\s+/)
    if (keyword !== undefined && /^(?:frontend|listen|backend|defaults|global|peers)$/.test(keyword)) {
      section = words[0] ?? keyword
    }
    if (keyword !== 'bind') return []
    return (words[0] ?? '')
      .split(',')
      .flatMap(address => listening(/:(\d+|__unknown__)(?:-\d+)?$/.exec(address)?.[1], `haproxy ${section}`.trim()))
  })
}
