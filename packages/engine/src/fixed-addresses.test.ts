import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ConnectorError, type ConnectorErrorCode, type Egress } from '@penstock/connector'
import { withFixedAddresses } from './fixed-addresses.ts'

const failing = (code: ConnectorErrorCode, message: string): Egress => {
  const fail = async () => {
    throw new ConnectorError(code, message)
  }
  return { request: fail, connect: fail }
}
const messageOf = (work: Promise<unknown>) =>
  work.then(
    () => '',
    (error: Error) => error.message,
  )
const fixed =
  'The connector sets this address itself: check the DNS, the proxy and the firewall of the machine that runs Penstock.'

describe('errors of addresses', () => {
  test('that nobody entered say DNS, proxy or firewall', async () => {
    for (const [code, message, happened] of [
      [
        'host_not_found',
        'The name graph.example.com cannot be found. Check the address.',
        'The name graph.example.com cannot be found.',
      ],
      [
        'unreachable',
        'No server answers at graph.example.com (ETIMEDOUT). Check that the server runs.',
        'No server answers at graph.example.com (ETIMEDOUT).',
      ],
      [
        'unreachable',
        'No connection to graph.example.com was established within 60 seconds.',
        'No connection to graph.example.com was established within 60 seconds.',
      ],
      [
        'wrong_protocol',
        'graph.example.com does not use TLS correctly. Check the address and the port.',
        'graph.example.com does not use TLS correctly.',
      ],
    ] as const) {
      const egress = withFixedAddresses(
        failing(code, message),
        { accessToken: 'secret' },
        { table: 'people', tags: ['a'] },
      )
      assert.equal(await messageOf(egress.request('https://graph.example.com/v1')), `${happened} ${fixed}`)
      assert.equal(await messageOf(egress.connect('graph.example.com', 443)), `${happened} ${fixed}`)
    }
  })

  test('that a person entered ask to check the address', async () => {
    const message = 'The name shop.example.com cannot be found. Check the address.'
    for (const values of [
      { address: 'https://Shop.example.com/orders' },
      { host: 'shop.example.com' },
      { account: 'shop' },
      { hosts: ['other.example.com', 'shop.example.com:9092'] },
    ]) {
      const egress = withFixedAddresses(failing('host_not_found', message), {}, values)
      assert.equal(await messageOf(egress.request('https://shop.example.com/v1')), message)
    }
  })

  test('stay as they are if another address would not help', async () => {
    const egress = withFixedAddresses(failing('rate_limited', 'Too many requests.'), {})
    assert.equal(await messageOf(egress.request('https://graph.example.com')), 'Too many requests.')
    const defect = withFixedAddresses({ ...failing('timeout', ''), request: () => Promise.reject(new Error('x')) }, {})
    assert.equal(await messageOf(defect.request('https://graph.example.com')), 'x')
  })
})
