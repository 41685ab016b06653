import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parsePhoneNumberFromString } from 'libphonenumber-js/min'
import fc from '../../../../test/harness/property.ts'
import { normalisers } from './normalise.ts'

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
    // Google: data-manager-node, tests of UserDataFormatter.
    ['1 800 555 0100', undefined, '+18005550100'],
    ['18005550100', undefined, '+18005550100'],
    ['441134960987', undefined, '+441134960987'],
    ['+44-113-496-0987', undefined, '+441134960987'],
    // Meta: capi-param-builder, tests of phoneUtil.
    ['+001 (616) 954-78 88', undefined, '+16169547888'],
    ['01(650)123-4567', undefined, '+16501234567'],
    ['1(650)123-4567', undefined, '+16501234567'],
    ['4792813113', 'no', '+4792813113'],
    ['3227352263', 'be', '+3227352263'],
    ['01 6501234567', 'us', '+16501234567'],
    ['016509547888', undefined, '+16509547888'],
    ['016501234567', 'gb', undefined],
    ['16501234567', undefined, undefined],
    ['138 1234 5678', undefined, undefined],
    ['491711234567', 'us', '+491711234567'],
    // With the code of the country, which can be the country of the row.
    ['4917167011210', 'de', '+4917167011210'],
    ['49 171 67011210', 'de', '+4917167011210'],
    ['4901711234567', 'de', '+491711234567'],
    ['436641234567', 'at', '+436641234567'],
    ['5511912345678', 'br', '+5511912345678'],
    // The area code of Santa Maria is also the country code.
    ['55 99123-4567', 'br', '+5555991234567'],
    ['9123456789', 'in', '+919123456789'],
    ['0171 1234567', 'DE', '+491711234567'],
    ['07400 123456', 'gb', '+447400123456'],
    ['+44 7400 123456', 'de', '+447400123456'],
    ['0171 1234567', undefined, undefined],
    ['4155552671', undefined, undefined],
    ['0171 1234567', 'atlantis', undefined],
    // A German mobile number that is not a number in Houston, and a number in Minas Gerais that is not Dutch.
    ['0171/35922262', undefined, undefined],
    ['0171/35922262', 'us', undefined],
    ['0171/35922262', 'de', '+4917135922262'],
    ['(31) 97986-9223', undefined, undefined],
    ['(31) 97986-9223', 'br', '+5531979869223'],
    ['(323) 555-1234', undefined, undefined],
    ['323-655-8645', undefined, undefined],
    // As people dial at home: Brazil and France, Brazil and the Netherlands, Moscow and Vietnam, Indonesia and Japan.
    ['33987654321', undefined, undefined],
    ['31979869223', undefined, undefined],
    ['31979869223', 'br', '+5531979869223'],
    ['31979869223', 'us', undefined],
    ['84951234567', undefined, undefined],
    ['84951234567', 'ru', '+74951234567'],
    ['81234567890', undefined, undefined],
    ['81234567890', 'id', '+6281234567890'],
    ['33612345678', undefined, '+33612345678'],
    ['447400123456', undefined, '+447400123456'],
    // Numbers of mobile phones in Germany have this form, too.
    ['017135922262', undefined, undefined],
    ['017135922262', 'us', '+17135922262'],
    ['017135922262', 'de', '+4917135922262'],
    ['49 171 1234567', undefined, '+491711234567'],
    ['44-113-496-0987', undefined, '+441134960987'],
    // Without its area code, a number is many people's.
    ['12345', 'de', undefined],
    ['22158', 'sh', '+29022158'],
    ['201234', 'fo', '+298201234'],
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
  // Without a country this would be a number in the state of São Paulo or invalid. It is a national number of the United States.
  assert.equal(digits('4155552671'), undefined)
  assert.equal(digits('4155552671', 'us'), '14155552671')
})

test('A number without its country code is not read as that of another country, whatever its area code is', () => {
  const digits = normalisers['phone-digits']
  for (let area = 200; area <= 999; area++) {
    for (const text of [`${area}5551234`, `(${area}) 555-1234`, `${area}-555-1234`, `${area}.555.1234`]) {
      assert.equal(digits(text), undefined, text)
      assert.equal(digits(text, 'us'), `1${area}5551234`, text)
      assert.equal(digits(text, 'fr'), undefined, text)
    }
    assert.equal(digits(`${area}555123`), undefined)
    assert.equal(digits(`${area}55512`), undefined)
  }
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
      const number = parsed?.isPossible() && parsed.nationalNumber.length >= 7 ? parsed.number : undefined
      assert.equal(normalisers['phone-e164'](text, country), number)
    }),
    { numRuns: 5_000 },
  )
})
