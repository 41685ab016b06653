import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Normalisation, normalisations } from '@penstock/connector'
import fc from 'fast-check'
import { parsePhoneNumberFromString } from 'libphonenumber-js/min'
import { normaliseCountry } from './country.ts'
import { complaints, normalisers, readsByCountry } from './normalise.ts'

/** What each form makes of a text; `undefined` for what it cannot take. */
const examples: Record<Exclude<Normalisation, 'phone-e164' | 'phone-digits'>, [string, string | undefined][]> = {
  email: [
    [' Ada.Lovelace+Work@Example.COM\t', 'ada.lovelace+work@example.com'],
    ['jörg@müller.example', 'jörg@müller.example'],
    ["o'neil@mail.example.co.uk", "o'neil@mail.example.co.uk"],
    ['ada@example', undefined],
    ['ada@@example.com', undefined],
    ['ada@one@example.com', undefined],
    ['ada lovelace@example.com', undefined],
    ['Ada <ada@example.com>', undefined],
    ['ada@example..com', undefined],
    ['ada@.example.com', undefined],
    ['ada@example.com.', undefined],
    ['@example.com', undefined],
    ['a@b.example,c@d.example', undefined],
    [`${'a'.repeat(250)}@example.com`, undefined],
    ['  ', undefined],
  ],
  'email-gmail': [
    ['Jane.Saoirse+Work@gmail.com', 'janesaoirse@gmail.com'],
    ['j.a.n.e@GoogleMail.com', 'jane@googlemail.com'],
    ['Jane.Saoirse+Work@example.com', 'jane.saoirse+work@example.com'],
    ['+work@gmail.com', undefined],
    ['...@gmail.com', undefined],
  ],
  'email-gmail-dots': [
    ['Jane.Saoirse+Work@gmail.com', 'janesaoirse+work@gmail.com'],
    ['jane.saoirse@example.com', 'jane.saoirse@example.com'],
  ],
  'email-plain-local': [
    ['Jane.Saoirse+Work@Example.com', 'jane.saoirse@example.com'],
    ['+@example.com', undefined],
  ],
  name: [
    [' JOHN ', 'john'],
    ["O'Brien-Smith, Jr.", 'obriensmith jr'],
    ['José  María', 'josé maría'],
    ['Jose\u0301', 'josé'],
    ['Ann3', 'ann'],
    ['李', '李'],
    ['123', undefined],
    ['-', undefined],
  ],
  city: [
    ['San Francisco', 'sanfrancisco'],
    ['Saint-Étienne', 'saintétienne'],
    ["L'Aquila", 'laquila'],
    ['São Paulo', 'sãopaulo'],
    ['--', undefined],
  ],
  state: [
    ['CA', 'ca'],
    ['New York', 'ny'],
    ['Nordrhein-Westfalen', 'nordrheinwestfalen'],
    ['D.C.', 'dc'],
    ['District of Columbia', 'dc'],
  ],
  'postal-code': [
    ['94104-1207', '94104'],
    [' SW1A 1AA', 'sw1a1aa'],
    ['-', undefined],
    ['?', undefined],
  ],
  country: [
    ['US', 'us'],
    ['usa', 'us'],
    ['U.S.A.', 'us'],
    ['The United States of America', 'us'],
    ['UK', 'gb'],
    ['Deutschland', 'de'],
    ['germany ', 'de'],
    ['Côte d’Ivoire', 'ci'],
    ['Bosnia and Herzegovina', 'ba'],
    ['Österreich', 'at'],
    ['日本', 'jp'],
    ['CHE', 'ch'],
    ['Suisse', 'ch'],
    ['Atlantis', undefined],
    ['ZZ', undefined],
    ['XYZ', undefined],
  ],
  'birth-date': [
    ['1985-12-31', '19851231'],
    ['1985-12-31T00:00:00Z', '19851231'],
    ['1985-12-31 00:00:00', '19851231'],
    ['19851231', '19851231'],
    ['1985/2/3', '19850203'],
    ['3.2.1985', '19850203'],
    ['31/12/1985', '19851231'],
    ['12/31/1985', '19851231'],
    ['5/5/1985', '19850505'],
    ['March 4, 1985', '19850304'],
    ['4th Mar 1985', '19850304'],
    ['12-Sept-1985', '19850912'],
    ['2/3/1985', undefined],
    ['1985-02-29', undefined],
    ['1984-02-29', '19840229'],
    ['29.02.1985', undefined],
    ['3.2.85', undefined],
    ['2999-01-01', undefined],
    ['1066-10-14', undefined],
    ['0000-00-00', undefined],
    ['03021985', undefined],
    ['1985123', undefined],
  ],
  gender: [
    ['Male', 'm'],
    ['F', 'f'],
    ['weiblich', 'f'],
    ['Féminin', 'f'],
    ['x', undefined],
    ['unknown', undefined],
  ],
  'device-id': [
    ['CDDA802E-FB9C-47AD-9866-0794D394C912 ', 'cdda802e-fb9c-47ad-9866-0794d394c912'],
    ['00000000-0000-0000-0000-000000000000', undefined],
    ['ada@example.com', undefined],
    ['none', undefined],
  ],
  lower: [
    [' Customer-17 ', 'customer-17'],
    [' ', undefined],
  ],
  text: [
    [' Customer-17 ', 'Customer-17'],
    ['', undefined],
  ],
}

for (const [form, pairs] of Object.entries(examples)) {
  test(`The form ${form} is made of texts as people write them`, () => {
    for (const [given, wanted] of pairs) assert.equal(normalisers[form as Normalisation](given), wanted, given)
  })
}

test('A phone number becomes E.164: with its own country code, or as a national one of the country given', () => {
  const numbers: [text: string, country: string | undefined, wanted: string | undefined][] = [
    ['+12345678901', undefined, '+12345678901'],
    ['+1 (415) 555-2671', undefined, '+14155552671'],
    ['001 415 555 2671', undefined, '+14155552671'],
    ['tel:+1-415-555-2671', undefined, '+14155552671'],
    ['+1 415 555 2671 ext. 12', undefined, '+14155552671'],
    ['+49 (0)171 1234567', undefined, '+491711234567'],
    ['+4901711234567', undefined, '+491711234567'],
    ['0049 (0) 171/123 45 67', undefined, '+491711234567'],
    ['(+49) 171 1234567', undefined, '+491711234567'],
    ['+39 06 12345678', undefined, '+390612345678'],
    ['+225 07 12 34 56 78', undefined, '+2250712345678'],
    ['＋１４１５５５５２６７１', undefined, '+14155552671'],
    ['(415) 555-2671', 'us', '+14155552671'],
    ['0171 1234567', 'DE', '+491711234567'],
    ['07400 123456', 'gb', '+447400123456'],
    ['+44 7400 123456', 'de', '+447400123456'],
    ['0171 1234567', undefined, undefined],
    ['4155552671', undefined, undefined],
    ['0171 1234567', 'atlantis', undefined],
    ['+1', undefined, undefined],
    ['+0123456789', undefined, undefined],
    ['+1234567890123456', undefined, undefined],
    ['call me', 'us', undefined],
    ['911', 'us', undefined],
    ['ada@example.com', 'us', undefined],
  ]
  for (const [text, country, wanted] of numbers) assert.equal(normalisers['phone-e164'](text, country), wanted, text)
})

test('A phone number in digits is E.164 without its sign, and what is so already stays', () => {
  const digits = normalisers['phone-digits']
  assert.equal(digits('+1 (234) 567-8901'), '12345678901')
  assert.equal(digits('12345678901'), '12345678901')
  assert.equal(digits('491711234567'), '491711234567')
  assert.equal(digits('491711234567', 'us'), '491711234567')
  assert.equal(digits('0171 1234567', 'de'), '491711234567')
  // Without a country this would be a number of São Paulo's state or none; it is a national one of the United States.
  assert.equal(digits('4155552671'), undefined)
  assert.equal(digits('4155552671', 'us'), '14155552671')
})

test('The short way through national numbers ends where the tables would', () => {
  const american = fc.stringMatching(/^(1[ -]?)?\(?[2-9]\d{2}\)?[ -]?\d{3}[ .-]?\d{4}$/)
  const withZero = fc.stringMatching(/^0[1-9]\d{1,4}[ /-]?\d{2,10}$/)
  const countries = ['DE', 'AT', 'CH', 'FR', 'BE', 'NL', 'GB', 'IE', 'SE', 'TR', 'ZA'] as const
  const given = fc.oneof(
    fc.tuple(american, fc.constantFrom('US' as const, 'CA' as const)),
    fc.tuple(withZero, fc.constantFrom(...countries)),
  )
  fc.assert(
    fc.property(given, ([text, country]) => {
      const parsed = parsePhoneNumberFromString(text, { defaultCountry: country, extract: false })
      const number = parsed?.isPossible() && parsed.number.length >= 8 ? parsed.number : undefined
      assert.equal(normalisers['phone-e164'](text, country), number)
    }),
    { numRuns: 5_000 },
  )
})

test('Every country is known by its codes and by its English name', () => {
  const english = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' })
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
  const known = letters
    .flatMap((first) => letters.map((second) => first + second))
    .filter((code) => normaliseCountry(code) === code.toLowerCase())
  assert.equal(known.length, 250)
  for (const code of known) {
    assert.equal(normaliseCountry(english.of(code) ?? ''), code.toLowerCase(), english.of(code))
  }
})

/** Texts of all kinds, and texts that nearly have some form. */
const given = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom(...`aAzZ09 .-+@'’,İßςΣé\u0301ǅ\u00a0\u200b/(`) }),
  fc.emailAddress().map((email) => ` ${email.toUpperCase()}`),
  fc.constantFrom(...Object.values(examples).flatMap((pairs) => pairs.map(([text]) => text))),
  fc
    .date({ min: new Date('1900-01-02'), max: new Date('2020-01-01'), noInvalidDate: true })
    .map((day) => day.toISOString()),
  fc.stringMatching(/^(\+|00)?[1-9]\d{5,15}$/),
  fc.stringMatching(/^\+ ?[1-9][\d ().-]{5,18}$/),
)

for (const form of normalisations.filter((form) => form !== 'phone-digits')) {
  test(`What the form ${form} has made, it leaves as it is`, () => {
    fc.assert(
      fc.property(given, fc.constantFrom(undefined, 'us', 'de', 'it'), (text, country) => {
        const once = normalisers[form](text, country)
        assert.notEqual(once, '')
        if (once !== undefined) {
          assert.equal(normalisers[form](once, country), once)
          assert.equal(normalisers[form](once), once)
        }
      }),
      { numRuns: 2_000 },
    )
  })
}

test('The two forms of a phone number differ by the sign alone', () => {
  fc.assert(
    fc.property(given, fc.constantFrom(undefined, 'us', 'de', 'it'), (text, country) => {
      const signed = normalisers['phone-e164'](text, country)
      const digits = normalisers['phone-digits'](text, country)
      if (signed !== undefined) {
        assert.match(signed, /^\+[1-9]\d{6,14}$/)
        assert.equal(`+${digits}`, signed)
      } else if (digits !== undefined) assert.equal(normalisers['phone-e164'](`+${digits}`), `+${digits}`)
    }),
    { numRuns: 2_000 },
  )
})

test('A form complains without the value, and only phone numbers are read by a country', () => {
  for (const form of normalisations) assert.match(complaints[form], /^(is|has) /)
  assert.deepEqual(normalisations.filter(readsByCountry), ['phone-e164', 'phone-digits'])
})
