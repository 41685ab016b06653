import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Normalisation, normalisations } from '@penstock/connector'
import { normalisationFacts } from '@penstock/wire/rules'
import fc from '../../../../test/harness/property.ts'
import { normaliseCountry } from './country.ts'
import { invalidMessages, normalisers, readsByCountry } from './normalise.ts'

const formsOfAmazon = [
  'email-no-signs',
  'name-ascii',
  'city-ascii',
  'state-ascii',
  'postal-code-national',
  'street-address',
] as const

/**
 * Result of each form for a text; `undefined` if the form does not accept it. `amazon-forms.test.ts` contains the forms of
 * Amazon.
 */
const examples: Record<
  Exclude<Normalisation, 'phone-e164' | 'phone-digits' | (typeof formsOfAmazon)[number]>,
  [string, string | undefined][]
> = {
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
  'email-gmail-com': [
    ['Jane.Saoirse+Work@gmail.com', 'janesaoirse@gmail.com'],
    ['J.a.n.e+work@GoogleMail.com', 'j.a.n.e+work@googlemail.com'],
  ],
  'email-gmail-dots': [
    ['Jane.Saoirse+Work@gmail.com', 'janesaoirse+work@gmail.com'],
    ['jane.saoirse@example.com', 'jane.saoirse@example.com'],
  ],
  'email-plain-local': [
    ['Jane.Saoirse+Work@Example.com', 'jane.saoirse@example.com'],
    ['+@example.com', undefined],
  ],
  // Reddit: its page about advanced matching. The first example is from there.
  'email-alphanumeric': [
    ['Al.ice$+Apple@Example.Com', 'alice@example.com'],
    ["jane_o'neil-smith.7@mail.example.com", 'janeoneilsmith7@mail.example.com'],
    ['Jane.Saoirse@gmail.com', 'janesaoirse@gmail.com'],
    ['jörg@example.com', 'jrg@example.com'],
    ['_+work@example.com', undefined],
    ['jane.example.com', undefined],
  ],
  'email-no-dots-no-tag': [
    ['Jane.Saoirse+Work@Example.com', 'janesaoirse@example.com'],
    ['jane.saoirse@gmail.com', 'janesaoirse@gmail.com'],
    ['jane@mail.example.com', 'jane@mail.example.com'],
    ['.+work@example.com', undefined],
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
  // Meta: capi-param-builder, tests of nameUtil.
  'name-joined': [
    [" Mary-Jane O'Connor ", 'maryjaneoconnor'],
    ['\tJohn Smith-Jones\n', 'johnsmithjones'],
    ['St. Mary, Jr.', 'stmaryjr'],
    ['Van Der Berg, III', 'vanderbergiii'],
    ['David#123', 'david123'],
    ['Agent007', 'agent007'],
    ['John\\', 'john'],
    ['Mary^', 'mary'],
    ['José María González', 'josémaríagonzález'],
    ['Øystein', 'øystein'],
    ['李明', '李明'],
    ['O’Connor', 'oconnor'],
    ['!!!', undefined],
  ],
  // Google Ads: data-manager-node, tests of UserDataFormatter.
  // Meta: the first character of the first name.
  initial: [
    ['Jane', 'j'],
    [' J. ', 'j'],
    ["'Élodie", 'é'],
    ['E\u0301lodie', 'é'],
    ['李明', '李'],
    ['7', undefined],
    ['-', undefined],
  ],
  'given-name': [
    [' Alex   ', 'alex'],
    [' Mr. Alex   ', 'alex'],
    [' Mrs. Alex   ', 'alex'],
    [' Dr. Alex   ', 'alex'],
    [' Alex Dr.', 'alex dr.'],
    [' Mralex   ', 'mralex'],
    [' Mr. ', undefined],
    ['Ms Alex', 'alex'],
    ['Dr. Mrs. Alex', 'alex'],
    ['  GivenName  ', 'givenname'],
    ['Jose\u0301', 'josé'],
    ['-', undefined],
  ],
  'family-name': [
    [' Quinn   ', 'quinn'],
    ['Quinn-Alex', 'quinn-alex'],
    [' Quinn, Jr.   ', 'quinn'],
    [' Quinn,Jr.   ', 'quinn'],
    [' Quinn Sr.  ', 'quinn'],
    ['quinn, jr. dds', 'quinn'],
    ['quinn, jr., dds', 'quinn'],
    ['Boardds', 'boardds'],
    ['lacparm', 'lacparm'],
    [', Jr. ', undefined],
    [',Jr.,DDS ', undefined],
    ['Quinn III', 'quinn'],
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
    // Meta: capi-param-builder, table of provinces in stringUtil.
    ['Ontario', 'on'],
    ['Québec', 'qc'],
    ['British Columbia', 'bc'],
    ['Prince Edward Island', 'pe'],
    ['Newfoundland and Labrador', 'nl'],
    ['Yukon', 'yt'],
    ['nt', 'nt'],
    // The same, tests of stateUtil.
    ['    C/a/lifo,rnia.  ', 'ca'],
    ['New.York', 'ny'],
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
    // Meta: capi-param-builder, table of countries in stringUtil: names of ISO 3166 without their commas.
    ['Bolivia Plurinational State of', 'bo'],
    ['Congo the Democratic Republic of the', 'cd'],
    ['Iran, Islamic Republic of', 'ir'],
    ['Islamic Republic of Iran', 'ir'],
    ['Korea Republic of', 'kr'],
    ["Korea Democratic People's Republic of", 'kp'],
    ['Macedonia the former Yugoslav Republic of', 'mk'],
    ['Micronesia Federated States of', 'fm'],
    ['Moldova Republic of', 'md'],
    ['Palestine State of', 'ps'],
    ['Saint Helena Ascension and Tristan da Cunha', 'sh'],
    ['Saint Martin (French part)', 'mf'],
    ['Taiwan Province of China', 'tw'],
    ['Tanzania United Republic of', 'tz'],
    ['Venezuela Bolivarian Republic of', 've'],
    ['Virgin Islands British', 'vg'],
    ['Virgin Islands (U.S.)', 'vi'],
    ['Lao People’s Democratic Republic', 'la'],
    ['Republic of', undefined],
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
    // Meta: capi-param-builder, tests of dobUtil.
    ['12 31 1990', '19901231'],
    ['1990_12_31', '19901231'],
    ['12:31:1990', '19901231'],
    ['1990|12|31', '19901231'],
    ['12-31/1990', '19901231'],
    ['1990_12.31', '19901231'],
    ['16–2–1997', '19970216'],
    ['\r\n1990.12.31\t', '19901231'],
    ['1985 12 31 10:30', '19851231'],
    ['31_Dec_1985', '19851231'],
    ['3 2 1985', undefined],
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
  // Meta: business SDK, normalizeDoby, normalizeDobm and normalizeDobd; Segment's names of months.
  'birth-year': [
    [' 1985 ', '1985'],
    ['85', undefined],
    ['1066', undefined],
    ['2999', undefined],
  ],
  'birth-month': [
    ['1', '01'],
    [' 02', '02'],
    ['12', '12'],
    ['January', '01'],
    ['sept', '09'],
    ['Dec.', '12'],
    ['13', undefined],
    ['0', undefined],
    ['Brumaire', undefined],
  ],
  'birth-day': [
    ['1', '01'],
    ['09', '09'],
    ['31', '31'],
    ['4th', '04'],
    ['32', undefined],
    ['00', undefined],
    ['Monday', undefined],
  ],
  gender: [
    ['Male', 'm'],
    ['F', 'f'],
    ['weiblich', 'f'],
    ['Féminin', 'f'],
    ['x', undefined],
    ['unknown', undefined],
  ],
  // Pinterest: f, m and n in its OpenAPI document.
  'gender-or-n': [
    ['Male', 'm'],
    ['weiblich', 'f'],
    ['N', 'n'],
    ['Non-binary', 'n'],
    ['non binary', 'n'],
    ['x', undefined],
    ['unknown', undefined],
  ],
  'device-id-upper': [
    ['cdda802e-fb9c-47ad-9866-0794d394c912 ', 'CDDA802E-FB9C-47AD-9866-0794D394C912'],
    ['00000000-0000-0000-0000-000000000000', undefined],
    ['none', undefined],
  ],
  'device-id': [
    ['CDDA802E-FB9C-47AD-9866-0794D394C912 ', 'cdda802e-fb9c-47ad-9866-0794d394c912'],
    ['00000000-0000-0000-0000-000000000000', undefined],
    ['ada@example.com', undefined],
    ['none', undefined],
  ],
  // Meta: capi-param-builder, tests of externalIDUtil.
  'external-id': [
    ['EXTERNAL123', 'external123'],
    ['USER-ID-456', 'user-id-456'],
    [' Customer \t17\n', 'customer17'],
    [' \t\n\r ', undefined],
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

// The result is one word, which can itself be read as another word: `s o` becomes `so`, which becomes `s`.
for (const form of normalisations.filter((form) => form !== 'phone-digits' && form !== 'street-address')) {
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

test('The example of a form that people see is what the form makes', () => {
  for (const form of normalisations) {
    const [value, normalised] = normalisationFacts[form].example
    assert.equal(normalisers[form](value), normalised, form)
  }
})

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

test('A form complains without the value, and what each country writes in another way is read by a country', () => {
  for (const form of normalisations) assert.match(invalidMessages[form], /^(is|has) /)
  assert.deepEqual(normalisations.filter(readsByCountry), [
    'phone-e164',
    'phone-digits',
    'state-ascii',
    'postal-code-national',
    'street-address',
  ])
})
