import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientAddressOf, normaliseAddress } from './client-address.ts'

test('an address has one form, and a text that is not an address has none', () => {
  for (const [text, address] of [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:201', '192.0.2.1'],
    ['192.0.2.1:50312', '192.0.2.1'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['::1', '::1'],
    ['', undefined],
    ['unknown', undefined],
    ['300.1.1.1', undefined],
    ['192.0.2.1","level":"fatal', undefined],
    ['[192.0.2.1', undefined],
  ] as const) {
    assert.equal(normaliseAddress(text), address, text)
  }
})

test('the address of the connection replaces a text that a proxy sent', () => {
  assert.equal(clientAddressOf({ ip: '_hidden', socket: { remoteAddress: '::ffff:10.0.0.1' } }), '10.0.0.1')
  assert.equal(clientAddressOf({ ip: '2001:DB8::5', socket: { remoteAddress: '10.0.0.1' } }), '2001:db8::5')
  assert.equal(clientAddressOf({ ip: '', socket: {} }), '')
})
