import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limits, type Role, secretMask } from '@penstock/wire'
import fc from '../../../test/harness/property.ts'
import { boolean, date, type Fields, multiSelect, number, secret, select, text } from './fields.ts'
import { missingValues, readValues, rebindSecrets, showFields, type Values } from './values.ts'

const about = { label: 'Label', description: 'Description' }
const fields = {
  authType: select({ ...about, options: ['oauth2', 'api-token', 'none'], required: true, default: 'oauth2' }),
  accessToken: secret({ ...about, required: true, when: { authType: 'api-token' } }),
  scope: text({ ...about, required: true, when: { authType: ['oauth2', 'api-token'] } }),
  retentionDays: number({ ...about, min: 1, max: 540 }),
  startDate: date(about),
  gzipOutput: boolean(about),
  reports: multiSelect({ ...about, options: ['Audience', 'Campaign', 'Geo'] }),
  bucketName: text({ ...about, required: true, readonly: true }),
  clientSecret: secret({ ...about, readonly: true }),
  sourcePath: text({ ...about, required: true, role: 'Source' }),
} satisfies Fields

const read = (given: unknown, current: Values = {}) =>
  readValues(fields, given as Record<string, unknown>, 'body.secretConfig', current)
const errorOf = (given: Record<string, unknown>, current: Values = {}) => {
  const { set, cleared, fieldErrors } = read(given, current)
  assert.deepEqual([set, cleared, fieldErrors.length], [{}, [], 1])
  return fieldErrors[0]?.message ?? ''
}
const keysOf = (fieldErrors: { field: string }[]) => fieldErrors.map(({ field }) => field.replace('path.', ''))
const missing = (values: Values, role?: Role) => keysOf(missingValues(fields, values, 'path', role))
const shown = (values: Values) => Object.fromEntries(showFields(fields, values).map((field) => [field.name, field]))

/** A value of its kind for each field that a caller can set. */
const validValues = fc.record(
  {
    authType: fc.constantFrom('oauth2', 'api-token', 'none'),
    accessToken: fc.string({ minLength: 12 }).filter((value) => value.trim() !== '' && value !== secretMask),
    scope: fc.string({ minLength: 1 }).filter((value) => value.trim() !== ''),
    retentionDays: fc.integer({ min: 1, max: 540 }),
    startDate: fc
      .date({ noInvalidDate: true, min: new Date('0000-01-01'), max: new Date('9999-12-31') })
      .map((day) => day.toISOString().slice(0, 10)),
    gzipOutput: fc.boolean(),
    reports: fc.subarray(['Audience', 'Campaign', 'Geo'], { minLength: 1 }),
  },
  { requiredKeys: [] },
)

describe('readValues', () => {
  test('takes each kind of value in its own form', () => {
    const given = {
      authType: 'none',
      accessToken: 's3cret',
      scope: ' a b ',
      retentionDays: 30,
      startDate: '2024-02-29',
    }
    const more = { gzipOutput: false, reports: ['Geo', 'Audience'] }
    assert.deepEqual(read({ ...given, ...more }), { set: { ...given, ...more }, cleared: [], fieldErrors: [] })
  })

  test('takes each kind of value as the text that reads show', () => {
    const { set, fieldErrors } = read({ retentionDays: '540', gzipOutput: 'true', reports: '["Geo","Geo","Campaign"]' })
    assert.deepEqual(fieldErrors, [])
    assert.deepEqual(set, { retentionDays: 540, gzipOutput: true, reports: ['Geo', 'Campaign'] })
  })

  test('leaves a secret unchanged when its mask comes back', () => {
    const unchanged = { set: {}, cleared: [], fieldErrors: [] }
    assert.deepEqual(
      read({ accessToken: secretMask, clientSecret: secretMask }, { accessToken: '', clientSecret: '' }),
      unchanged,
    )
  })

  test('refuses the mask of a secret that is not set', () => {
    assert.match(errorOf({ accessToken: secretMask }), /not set yet/)
  })

  test('takes the mask for plain text where the field is no secret', () => {
    assert.deepEqual(read({ scope: secretMask }).set, { scope: secretMask })
  })

  test('clears with null and with empty text, whatever the kind, and only what is set', () => {
    const current = { authType: 'none', accessToken: 'set', retentionDays: 3, reports: ['Geo'] }
    for (const nothing of [null, '']) {
      const given = Object.fromEntries(Object.keys(current).map((key) => [key, nothing]))
      assert.deepEqual(read({ ...given, scope: nothing, bucketName: nothing }, current), {
        set: {},
        cleared: Object.keys(current),
        fieldErrors: [],
      })
    }
  })

  test('accepts the current value of a field that the service fills, and no other', () => {
    const current = { bucketName: 'penstock-7', clientSecret: 'set' }
    assert.deepEqual(read({ bucketName: 'penstock-7' }, current), { set: {}, cleared: [], fieldErrors: [] })
    for (const given of ['penstock-8', null, '']) {
      assert.match(errorOf({ bucketName: given }, current), /^is filled by the service and cannot be (set|cleared)$/)
    }
    assert.match(errorOf({ bucketName: 'penstock-7' }), /cannot be set/)
    assert.match(errorOf({ clientSecret: 'mine' }, current), /cannot be set/)
  })

  test('refuses keys that are no fields, even those that every object inherits', () => {
    const given = JSON.parse('{"__proto__": "a", "constructor": "b", "toString": null, "acessToken": "c"}')
    const { set, cleared, fieldErrors } = read(given, { scope: 'kept' })
    assert.deepEqual([set, cleared], [{}, []])
    assert.deepEqual(
      fieldErrors.map(({ field }) => field),
      ['__proto__', 'constructor', 'toString', 'acessToken'].map((key) => `body.secretConfig.${key}`),
    )
    for (const { message } of fieldErrors) assert.match(message, /is not a field .* authType, accessToken, scope/)
    assert.equal(Object.getPrototypeOf(set), Object.prototype)
    assert.match(readValues({}, { a: 1 }, 'body').fieldErrors[0]?.message ?? '', /its fields are: none$/)
  })

  test('refuses what is not of the kind of the field', () => {
    const wrong: Record<string, unknown[]> = {
      authType: ['OAuth2', 'oauth2 ', 1, true, ['oauth2'], {}],
      accessToken: ['  ', 1, {}, ['a'], 'a'.repeat(limits.secretLengthMax + 1)],
      scope: ['\t\n', 7, false, {}, 'a'.repeat(limits.textLengthMax + 1)],
      retentionDays: [0, 541, '0', '541', 1.5, '1.5', '1e2', '0x10', ' 5', '5 ', 'five', true, [5], {}, '9'.repeat(20)],
      startDate: ['2026-02-30', '2025-02-29', '2026-13-01', '2026-00-10', '2026-04-31', '2026-1-1', '20260101'],
      gzipOutput: ['yes', 'TRUE', 1, 0, [], {}],
      reports: ['Geo', '"Geo"', '["Geo"', 'null', '{}', ['Geo', 'geo'], [['Geo']], [null], 5, { 0: 'Geo' }],
    }
    wrong.startDate?.push('2026-01-01T00:00:00Z', ' 2026-01-01', 20260101, {}, ['2026-01-01'])
    for (const [key, values] of Object.entries(wrong)) {
      for (const value of values)
        assert.match(errorOf({ [key]: value }), /^must /, `${key} took ${JSON.stringify(value)}`)
    }
  })

  test('takes text and secrets up to their longest length', () => {
    const given = { scope: 'a'.repeat(limits.textLengthMax), accessToken: 'b'.repeat(limits.secretLengthMax) }
    assert.deepEqual(read(given), { set: given, cleared: [], fieldErrors: [] })
  })

  test('names all errors at once, and still reads what is right', () => {
    const { set, cleared, fieldErrors } = read(
      { authType: 'x', retentionDays: 0, startDate: '2026-02-30', nope: 1, scope: 'a', gzipOutput: null },
      { gzipOutput: true },
    )
    assert.deepEqual([set, cleared], [{ scope: 'a' }, ['gzipOutput']])
    assert.deepEqual(
      fieldErrors.map(({ field }) => field.replace('body.secretConfig.', '')),
      ['authType', 'retentionDays', 'startDate', 'nope'],
    )
  })

  test('gives every key one fate, whatever JSON is sent', () => {
    const key = fc.oneof(fc.constantFrom(...Object.keys(fields), '__proto__', 'constructor', 'toString'), fc.string())
    fc.assert(
      fc.property(fc.array(fc.tuple(key, fc.jsonValue())), validValues, (entries, current) => {
        const given = Object.fromEntries(entries)
        const { set, cleared, fieldErrors } = read(given, current)
        const broken = fieldErrors.map(({ field }) => field.slice('body.secretConfig.'.length))
        const fates = [...Object.keys(set), ...cleared, ...broken]
        assert.equal(new Set(fates).size, fates.length)
        for (const fate of fates) assert.ok(Object.hasOwn(given, fate))
        for (const known of [...Object.keys(set), ...cleared]) assert.ok(Object.hasOwn(fields, known))
        for (const sent of Object.keys(given)) if (!Object.hasOwn(fields, sent)) assert.ok(broken.includes(sent))
      }),
    )
  })

  test('takes a day if and only if the calendar has it', () => {
    const two = (value: number) => String(value).padStart(2, '0')
    fc.assert(
      fc.property(fc.nat(9999), fc.nat(14), fc.nat(33), (year, month, day) => {
        const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
        const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0
        const startDate = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`
        assert.equal(read({ startDate }).fieldErrors.length === 0, day >= 1 && day <= days, startDate)
      }),
      { numRuns: 500 },
    )
  })

  test('takes a number if and only if it is whole and within its bounds, as a number or as text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.integer({ min: -2, max: 545 }), fc.double(), fc.maxSafeInteger()), (value) => {
        const right = Number.isInteger(value) && value >= 1 && value <= 540
        for (const retentionDays of [value, String(value)]) {
          assert.deepEqual(read({ retentionDays }).set, right ? { retentionDays: value } : {})
        }
      }),
    )
  })
})

describe('missingValues', () => {
  test('lists every required field without a value, by its label', () => {
    const wanted = [{ field: 'body.scope', message: 'is required: Label' }]
    assert.deepEqual(missingValues(fields, {}, 'body'), wanted)
    assert.deepEqual(missing({ authType: 'api-token' }), ['accessToken', 'scope'])
  })

  test('asks for a field only under its condition, counting defaults and each of several values', () => {
    assert.deepEqual(missing({ authType: 'none' }), [])
    assert.deepEqual(missing({ authType: 'oauth2' }), ['scope'])
    assert.deepEqual(missing({ authType: 'api-token', accessToken: 'set', scope: 'a' }), [])
    const noDefault = { ...fields, authType: select({ ...about, options: ['oauth2', 'api-token', 'none'] }) }
    assert.deepEqual(missingValues(noDefault, {}, 'path'), [])
  })

  test('asks for nothing under a field that does not count itself', () => {
    const chain = {
      a: select({ ...about, options: ['on', 'off'] }),
      b: select({ ...about, options: ['1', '2'], when: { a: 'on' } }),
      c: text({ ...about, required: true, when: { b: '1' } }),
    }
    assert.deepEqual(keysOf(missingValues(chain, { a: 'on', b: '1' }, 'path')), ['c'])
    assert.deepEqual(missingValues(chain, { a: 'off', b: '1' }, 'path'), [])
  })

  test('asks for all conditions of a field to hold', () => {
    const both = {
      a: select({ ...about, options: ['1', '2'] }),
      b: select({ ...about, options: ['1', '2'] }),
      c: text({ ...about, required: true, when: { a: '1', b: ['1', '2'] } }),
    }
    assert.deepEqual(missingValues(both, { a: '1' }, 'path'), [])
    assert.deepEqual(missingValues(both, { a: '2', b: '1' }, 'path'), [])
    assert.deepEqual(keysOf(missingValues(both, { a: '1', b: '2' }, 'path')), ['c'])
  })

  test('asks for the fields of a role only where that role is meant, and never for those the service fills', () => {
    assert.deepEqual(missing({ scope: 'a' }), [])
    assert.deepEqual(missing({ scope: 'a' }, 'Destination'), [])
    assert.deepEqual(missing({ scope: 'a' }, 'Source'), ['sourcePath'])
  })

  test('counts false and zero as values', () => {
    const plain = { on: boolean({ ...about, required: true }), days: number({ ...about, required: true }) }
    assert.deepEqual(missingValues(plain, { on: false, days: 0 }, 'path'), [])
    assert.deepEqual(keysOf(missingValues(plain, {}, 'path')), ['on', 'days'])
  })
})

describe('showFields', () => {
  test('shows each field in its order with its bounds, its options and its value as text', () => {
    const values = { retentionDays: 30, gzipOutput: false, reports: ['Geo'], startDate: '2026-01-31' }
    assert.deepEqual(Object.keys(shown(values)), Object.keys(fields))
    const { retentionDays, gzipOutput, reports, startDate, scope, authType } = shown(values)
    assert.deepEqual(retentionDays, {
      name: 'retentionDays',
      ...about,
      type: 'Number',
      required: false,
      readonly: false,
      min: 1,
      max: 540,
      value: '30',
    })
    assert.deepEqual([gzipOutput?.value, reports?.value, startDate?.value], ['false', '["Geo"]', '2026-01-31'])
    assert.deepEqual(
      [scope?.value, authType?.value, authType?.options],
      ['', 'oauth2', ['oauth2', 'api-token', 'none']],
    )
    assert.deepEqual(Object.keys(scope ?? {}), [
      'name',
      'label',
      'description',
      'type',
      'required',
      'readonly',
      'value',
    ])
  })

  test('shows whether a field is required as things are now', () => {
    const required = (values: Values) => Object.values(shown(values)).filter((field) => field.required)
    const names = (values: Values) => required(values).map(({ name }) => name)
    assert.deepEqual(names({}), ['authType', 'scope', 'sourcePath'])
    assert.deepEqual(names({ authType: 'api-token' }), ['authType', 'accessToken', 'scope', 'sourcePath'])
    assert.deepEqual(names({ authType: 'none' }), ['authType', 'sourcePath'])
  })

  test('shows a secret as its mask once set and as nothing before', () => {
    const { accessToken, clientSecret } = shown({ accessToken: 's3cret' })
    assert.deepEqual([accessToken?.value, clientSecret?.value], [secretMask, ''])
  })

  test('never shows a secret, and no error repeats one', () => {
    fc.assert(
      fc.property(fc.uuid(), (accessToken) => {
        assert.ok(!JSON.stringify(showFields(fields, { accessToken, clientSecret: accessToken })).includes(accessToken))
        const given = {
          accessToken: [accessToken],
          clientSecret: accessToken,
          authType: accessToken,
          nope: accessToken,
        }
        const { fieldErrors } = read(given)
        assert.equal(fieldErrors.length, 4)
        assert.ok(!JSON.stringify(fieldErrors).includes(accessToken))
      }),
    )
  })

  test('shows a form that can be sent back as it is and changes nothing', () => {
    fc.assert(
      fc.property(validValues, (values) => {
        const form = Object.fromEntries(showFields(fields, values).map(({ name, value }) => [name, value]))
        const { set, cleared, fieldErrors } = read(form, values)
        assert.deepEqual([cleared, fieldErrors], [[], []])
        assert.deepEqual({ ...values, ...set }, { authType: 'oauth2', ...values })
        assert.ok(!Object.hasOwn(set, 'accessToken'))
      }),
    )
  })
})

describe('rebindSecrets', () => {
  const bound = {
    host: text({ ...about, label: 'Host', binds: ['password', 'token'] }),
    port: number({ ...about, label: 'Port', default: 22, binds: ['password'] }),
    user: text(about),
    authType: select({ ...about, options: ['password', 'token'], default: 'password' }),
    password: secret({ ...about, when: { authType: 'password' } }),
    token: secret({ ...about, when: { authType: 'token' } }),
    apiKey: secret(about),
  } satisfies Fields
  const stored: Values = { host: 'a', user: 'u', password: '', apiKey: '' }
  const rebind = (given: Record<string, unknown>, current: Values = stored) => {
    const { fieldErrors, dropped } = rebindSecrets(bound, current, readValues(bound, given, 'path', current), 'path')
    return { fieldErrors: keysOf(fieldErrors), dropped, says: fieldErrors.map(({ message }) => message).join(' ') }
  }
  const nothing = { fieldErrors: [], dropped: [], says: '' }

  test('asks for the secrets that a changed value binds, unless they are sent or cleared', () => {
    for (const changed of [{ host: 'b' }, { host: null }, { port: 23 }, { host: 'b', password: secretMask }]) {
      const { fieldErrors, dropped, says } = rebind(changed)
      assert.deepEqual([fieldErrors, dropped], [['password'], []], JSON.stringify(changed))
      assert.match(says, /^must be entered again: .* \((Host|Port)\)$/)
    }
    assert.match(rebind({ host: 'b', port: 23 }).says, /\(Host, Port\)/)
    for (const complete of [{ password: 'new' }, { password: null }]) {
      assert.deepEqual(rebind({ host: 'b', port: 23, ...complete }), nothing)
    }
  })

  test('asks for nothing where no value that binds changes', () => {
    for (const given of [
      {},
      { host: 'a' },
      { port: 22 },
      { port: '22' },
      { port: null },
      { user: 'v' },
      { apiKey: 'k' },
    ]) {
      assert.deepEqual(rebind(given), nothing, JSON.stringify(given))
    }
    assert.deepEqual(rebind({ host: 'b' }, { host: 'a' }), nothing, 'no secret is stored')
  })

  test('asks for nothing where the first identity of a server is set, which nothing was sent to before', () => {
    const fields = {
      check: select({ ...about, options: ['pinned', 'any'], default: 'pinned', binds: ['password'] }),
      key: text({ ...about, binds: ['password'], pins: { check: 'pinned' } }),
      password: secret(about),
    } satisfies Fields
    const asked = (given: Record<string, unknown>, current: Values) =>
      keysOf(rebindSecrets(fields, current, readValues(fields, given, 'path', current), 'path').fieldErrors)
    assert.deepEqual(asked({ key: 'a' }, { password: '' }), [])
    for (const [given, current] of [
      [{ key: 'b' }, { key: 'a' }],
      [{ key: null }, { key: 'a' }],
      [{ key: 'a' }, { check: 'any' }],
      [{ key: 'a', check: 'pinned' }, { check: 'any' }],
      [{ key: 'a', check: 'any' }, {}],
    ] as const) {
      assert.deepEqual(asked(given, { password: '', ...current }), ['password'], JSON.stringify([given, current]))
    }
  })

  test('drops stored secrets that are not in use under the new values', () => {
    const both: Values = { ...stored, token: '' }
    assert.deepEqual(rebind({ host: 'b', password: 'new' }, both), { ...nothing, dropped: ['token'] })
    assert.deepEqual(rebind({ host: 'b', authType: 'token', token: 'new' }, both), {
      ...nothing,
      dropped: ['password'],
    })
    assert.deepEqual(rebind({ host: 'b', authType: 'token' }, both).fieldErrors, ['token'])
    assert.deepEqual(rebind({ port: 23, password: 'new' }, both), nothing, 'the port binds the password alone')
  })
})
