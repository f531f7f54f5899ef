import assert from 'node:assert/strict'
import fc from 'fast-check'
import { hostPort, parseTcpSockets, plainIpv6 } from '../../../src/host/ports/tcp-sockets.js'

const HEAD = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n'
const line = (local: string, state = '0A', inode = '77'): string =>
  `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000     0        0 ${inode} 1 0 100 0 0 10 0\n`
const read = (text: string, bigEndian = false) => parseTcpSockets({ path: '/proc/net/tcp', text }, bigEndian)

describe('the tables of TCP sockets', () => {
  for (const [local, expected] of [
    ['0100007F:B86B', '127.0.0.1:47211'],
    ['00000000:07E8', '0.0.0.0:2024'],
    ['00000000000000000000000000000000:867F', '[::]:34431'],
    ['00000000000000000000000001000000:C15B', '[::1]:49499'],
    ['0000000000000000FFFF00000100007F:97B3', '[::ffff:127.0.0.1]:38835'],
    ['B80D0120000000000000000001000000:280A', '[2001:db8::1]:10250'],
    ['B80D012000000000000001000000FF00:0016', '[2001:db8::1:0:ff:0]:22'],
  ] as const) {
    it(`${local} is ${expected}`, () => {
      const { sockets, bad } = read(HEAD + line(local))
      assert.deepEqual(bad, [])
      assert.deepEqual(
        sockets.map(({ address, port }) => hostPort(address, port)),
        [expected],
      )
      assert.equal(sockets[0]?.place.line, 2)
    })
  }

  it('is in the other order on a big-endian machine, but for the port', () => {
    const { sockets } = read(HEAD + line('7F000001:B86B'), true)
    assert.deepEqual(
      sockets.map(({ address, port }) => hostPort(address, port)),
      ['127.0.0.1:47211'],
    )
  })

  it('has only what listens', () => {
    const text = HEAD + ['01', '02', '06', '07', '08', '0B', '0A'].map(state => line('0100007F:B86B', state)).join('')
    assert.equal(read(text).sockets.length, 1)
  })

  it('says which lines are none', () => {
    const text = `${HEAD}${line('0100007F:B86B')}nonsense\n${line('0100007F')}${line('0100007F:B86B', '0A', 'x')}`
    const { sockets, bad } = read(text)
    assert.equal(sockets.length, 1)
    assert.deepEqual(
      bad.map(place => place.line),
      [3, 4, 5],
    )
  })

  it('never throws, and has a socket or a fault for each line of a table', () => {
    fc.assert(fc.property(fc.string(), text => read(text) !== undefined))
    const states = fc.constantFrom('0A', '01', 'zz')
    fc.assert(
      fc.property(fc.array(states), all => {
        const { sockets, bad } = read(HEAD + all.map(state => line('0100007F:B86B', state)).join(''))
        return (
          sockets.length === all.filter(state => state === '0A').length &&
          bad.length === all.filter(state => state === 'zz').length
        )
      }),
    )
  })
})

describe('plainIpv6', () => {
  for (const [text, plain] of [
    ['0:0:0:0:0:0:0:1', '::1'],
    ['2001:DB8::0001', '2001:db8::1'],
    ['::FFFF:127.0.0.1', '::ffff:127.0.0.1'],
    ['::ffff:7f00:1', '::ffff:127.0.0.1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['::', '::'],
    ['1::2::3', undefined],
    ['1:2:3', undefined],
    ['127.0.0.1', undefined],
    ['::1::', undefined],
    ['::256.1.1.1', undefined],
  ] as const) {
    it(`${text}: ${plain}`, () => assert.equal(plainIpv6(text), plain))
  }

  it('is what Node makes of an address', () => {
    fc.assert(
      fc.property(fc.ipV6(), text => {
        const mapped = plainIpv6(text)?.startsWith('::ffff:') === true && plainIpv6(text)?.includes('.') === true
        return mapped || `[${plainIpv6(text)}]` === new URL(`http://[${text}]/`).hostname
      }),
    )
  })
})
