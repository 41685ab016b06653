import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from '../../../../test/harness/property.ts'
import { digestLength, digestOf, digests, isDigestOfNothing, looksLikeDigest, readDigest } from './hash.ts'
import { normalisers } from './normalise.ts'

test('Digests are those that platforms print in their documents', () => {
  const vectors: [form: keyof typeof normalisers, text: string, sha256: string][] = [
    ['email', ' User@Example.com', 'b4c9a289323b21a01c3e940f150eb9b8c542587f1abfd8f0e1cc1ffc5e475514'],
    ['email-gmail', 'Jane.Saoirse+Work@gmail.com', '92ee26057ed9dea2535d6c8b141d48373932476599196e00352254896db5888f'],
    ['phone-e164', '+1 234 567 8901', '10e6f0b47054a83359477dcb35231db6de5c69fb1816e1a6b98e192de9e5b9ee'],
    ['phone-digits', '+1 234 567 8901', '254aa248acb47dd654ca3ea53f48c2c26d641d23d7e2e93a1ec56258df7674c4'],
    // Google: data-manager-python and data-manager-node, tests of their formatters.
    ['email-gmail', '  ALEXZ@example.com   ', '509e933019bb285a134a9334b8bb679dff79d0ce023d529af4bd744d47b4fd8a'],
    ['phone-e164', '1-800-555-0100   ', 'fb4f73a6ec5fdb7077d564cdd22c3554b43ce49168550c3b12c547b78c517b30'],
    ['given-name', '  GivenName  ', '128a07bfe2df877c52076e60d7774cf5baaa046c5a6c48daf30ff43ecca2f814'],
    ['family-name', '  FamilyName ', '77762c287e61ce065bee5c15464012c6fbe088398b8057627d5577249430d574'],
    ['email', 'test@contoso.com', 'f25ad364d33972379a7a4f4df33db142205f5c40eb19cfdb2fc5aaf117e10101'],
    ['country', 'USA', '79adb2a2fce5c6ba215fe5f27f532d4e7edbac4b6a5e09e1ef3a08084a904621'],
    ['gender', 'Female', '252f10c83610ebca1a059c0bae8255eba2f95be4d1d7bcfa89d7248a82d9f111'],
    ['name', 'John', '96d9632f363564cc3032521409cf22a852f2032eec099ed5967c0d000cec607a'],
  ]
  for (const [form, text, sha256] of vectors) assert.equal(digestOf('sha256', normalisers[form](text) ?? ''), sha256)
})

test('A digest is that of the bytes in UTF-8, in every kind', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.constantFrom(...digests), (text, digest) => {
      const made = digestOf(digest, text)
      assert.equal(made, createHash(digest).update(text, 'utf8').digest('hex'))
      assert.equal(made.length, digestLength[digest])
      assert.equal(readDigest(made.toUpperCase(), [digest]), made)
      assert.ok(looksLikeDigest(made))
      assert.equal(isDigestOfNothing(made), text === '')
    }),
  )
})

test('A digest of another kind, or what only looks like one, is not taken for the kind that is asked for', () => {
  const sha256 = digestOf('sha256', 'ada@example.com')
  assert.equal(readDigest(sha256, ['md5', 'sha512']), undefined)
  assert.equal(readDigest(sha256, ['md5', 'sha256']), sha256)
  assert.equal(readDigest(sha256.slice(1), ['sha256']), undefined)
  for (const suffix of ['.BA', '.AQYBAQEA']) {
    assert.equal(readDigest(`${sha256.toUpperCase()}${suffix}`, ['sha256']), sha256)
    assert.equal(readDigest(`${sha256}${suffix}`, ['md5', 'sha512']), undefined)
  }
  for (const suffix of ['.', '.A', '.AQYBAQEAA', '.AQ AQ']) {
    assert.equal(readDigest(`${sha256}${suffix}`, ['sha256']), undefined)
  }
  assert.equal(readDigest(`${sha256.slice(1)}g`, ['sha256']), undefined)
  assert.equal(looksLikeDigest(`${sha256.slice(1)}g`), false)
  assert.equal(looksLikeDigest('ada@example.com'), false)
})
