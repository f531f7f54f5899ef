import type { Problem } from '../src/verdicts/problem.js'
import { portProblem } from './port.js'

const HIGHEST = 65535

/** The port a text names as `port_N`; undefined where it is none of the ports there are. */
function portNamed(id: string): number | undefined {
  const digits = /^port_([1-9]\d{0,4})$/.exec(id)?.[1]
  const port = Number(digits)
  return digits !== undefined && port <= HIGHEST ? port : undefined
}

/** The problem that something holds a port of which nothing else is known, for `port_N`; undefined for another id. */
export function anyPort(id: string): Problem | undefined {
  const port = portNamed(id)
  if (port === undefined) return undefined
  return portProblem({
    port,
    owner: 'what is to listen there',
    says: `What is to listen on port ${port} of the host cannot while another process does.`,
    source: 'https://kubernetes.io/docs/reference/networking/ports-and-protocols/',
  })
}

/** What is wrong with an id that was meant as a port; undefined where it was not, or where nothing is. */
export function whyNoPort(id: string): string | undefined {
  if (!/^port([_-]|\d)/i.test(id) || portNamed(id) !== undefined) return undefined
  return `a port is named port_N with N from 1 to ${HIGHEST}, as in port_8080`
}

/** The page about any port, of one of them. */
export function pageOfPort(page: string, { id }: Pick<Problem, 'id'>): string {
  const port = portNamed(id)
  return port === undefined ? page : page.replaceAll(/(?<![A-Za-z0-9])N(?![A-Za-z0-9])/g, String(port))
}
