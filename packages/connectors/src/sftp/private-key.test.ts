import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ConnectorError } from '@penstock/connector'
import ssh2 from 'ssh2'
import { makeSshKey } from '../../test/ssh-keys.ts'
import { readPrivateKey } from './private-key.ts'

describe('private keys', () => {
  test('lets other work continue while a key is decrypted, and gives up when the work is stopped', async () => {
    const slow = makeSshKey('ed25519', { passphrase: 'canary-passphrase', cipher: 'aes256-ctr', rounds: 16 }).private
    let turns = 0
    let over = false
    const turn = () => {
      turns += 1
      if (!over) setImmediate(turn)
    }
    setImmediate(turn)
    const text = await readPrivateKey(slow, 'canary-passphrase', new AbortController().signal)
    over = true
    // In this thread, no turn would have come in between.
    assert.ok(turns > 1)
    assert.equal(ssh2.utils.parseKey(text) instanceof Error, false)
    const stop = new AbortController()
    const stopped = readPrivateKey(slow, 'canary-passphrase', stop.signal)
    stop.abort()
    await assert.rejects(stopped, (error) => error === stop.signal.reason)
  })

  test('opens encrypted keys of every type, and signs in with them', async () => {
    for (const [type, options] of [
      ['ed25519', {}],
      ['ecdsa', { bits: 256 }],
      ['ecdsa', { bits: 521 }],
      ['rsa', { bits: 2048 }],
    ] as const) {
      const locked = { passphrase: 'canary', cipher: 'aes256-ctr', rounds: 1, ...options }
      const pair = makeSshKey(type, locked)
      const text = await readPrivateKey(pair.private, 'canary', new AbortController().signal)
      const [opened, known] = [ssh2.utils.parseKey(text), ssh2.utils.parseKey(pair.public)]
      assert.ok(!(opened instanceof Error) && !(known instanceof Error))
      assert.ok(known.getPublicSSH().equals(opened.getPublicSSH()))
      const data = Buffer.from('signed')
      assert.equal(known.verify(data, opened.sign(data) as Buffer), true)
    }
  })

  test('refuses texts that are nearly keys, and keys that are too large, at once', async () => {
    const { signal } = new AbortController()
    const huge = 'QUJD'.repeat(3_000)
    for (const text of [
      `-----BEGIN RSA PRIVATE KEY-----\n${'a:b\n'.repeat(15_000)}x`,
      `-----BEGIN RSA PRIVATE KEY-----\n${'a: b\n'.repeat(12_000)}\n-----END RSA PRIVATE KEY-----`,
      `-----BEGIN OPENSSH PRIVATE KEY-----\n${huge}\n-----END OPENSSH PRIVATE KEY-----`,
      `PuTTY-User-Key-File-2: ssh-rsa\n${'Private-Lines: 1\n'.repeat(3_000)}`,
      '-----BEGIN OPENSSH PRIVATE KEY-----\n-----END OPENSSH PRIVATE KEY-----',
      '',
    ]) {
      await assert.rejects(
        readPrivateKey(text, 'canary', signal),
        (error: ConnectorError) => error.code === 'invalid_credentials',
      )
    }
  })
})
