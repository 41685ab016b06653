import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { connectors } from '@penstock/connectors'
import { fieldMapper } from './mapping/cell-mapper.ts'

/**
 * The value that each platform receives: the normal form, or a digest of it. Values and forms come from the tests of the
 * platforms' formatters, and from their documentation.
 */
const cases: readonly [connector: string, field: string, value: string, form: string | undefined][] = [
  // Google: data-manager-node and data-manager-python, tests of their formatters.
  ['google-data-manager-audiences', 'email', 'Cloudy.SanFrancisco+shopping@gmail.com', 'cloudysanfrancisco@gmail.com'],
  [
    'google-data-manager-audiences',
    'email',
    'jefferson.Loves.hiking@googlemail.com',
    'jeffersonloveshiking@googlemail.com',
  ],
  ['google-data-manager-audiences', 'email', 'user.name+NYC@Example.com', 'user.name+nyc@example.com'],
  ['google-data-manager-audiences', 'phone', '441134960987', '+441134960987'],
  ['google-data-manager-audiences', 'phone', '1 800 555 0100', '+18005550100'],
  ['google-data-manager-audiences', 'first_name', ' Mrs. Alex   ', 'alex'],
  ['google-data-manager-audiences', 'last_name', 'quinn, jr., dds', 'quinn'],
  ['dv360-customer-match', 'email_sha256', 'j.o.h.n+alias@gmail.com', 'john@gmail.com'],
  ['google-ads-customer-match', 'email', 'j.o.h.n+alias@gmail.com', 'john@gmail.com'],
  ['google-ads-customer-match', 'phone', '+44-113-496-0987', '+441134960987'],
  ['google-ads-customer-match', 'fname', ' Mr. Alex   ', 'alex'],
  ['google-ads-customer-match', 'lname_sha256', 'quinn, jr. dds', 'quinn'],
  ['dv360-customer-match', 'phone', '1 800 555 0100', '+18005550100'],
  ['dv360-customer-match', 'lname', 'Quinn-Alex', 'quinn-alex'],
  ['google-ads-conversions', 'email', 'cloudySanFrancisco@GMAIL.com', 'cloudysanfrancisco@gmail.com'],
  ['google-ads-conversions', 'email_sha256', '  ALEXZ@example.com   ', 'alexz@example.com'],
  ['google-ads-conversion-adjustments', 'email', 'cloudySanFrancisco@GMAIL.com', 'cloudysanfrancisco@gmail.com'],
  ['google-ads-click-conversions', 'phone', '+1 800-555-0102', '+18005550102'],
  ['google-ads-offline-conversions', 'first_name', ' Alex Dr.', 'alex dr.'],
  ['google-ads-offline-conversions', 'last_name', ' Quinn,Jr.   ', 'quinn'],
  // Meta: capi-param-builder, tests of phoneUtil, nameUtil and externalIDUtil; business SDK, dates of birth.
  ['meta-custom-audiences', 'email_sha256', ' Jane.Doe+News@Gmail.com', 'jane.doe+news@gmail.com'],
  ['meta-custom-audiences', 'phone_sha256', '+001 (616) 954-78 88', '16169547888'],
  ['meta-custom-audiences', 'phone_sha256', '01(650)123-4567', '16501234567'],
  ['meta-custom-audiences', 'fname_sha256', " Mary-Jane O'Connor ", 'maryjaneoconnor'],
  ['meta-custom-audiences', 'lname_sha256', 'Agent007', 'agent007'],
  // Meta: FI is the first character of the first name.
  ['meta-custom-audiences', 'finitial_sha256', 'Jane', 'j'],
  ['meta-custom-audiences', 'finitial_sha256', " 'Élodie", 'é'],
  ['pinterest-conversions', 'gender', 'n', 'n'],
  ['pinterest-conversions', 'gender', 'Female', 'f'],
  ['meta-custom-audiences', 'dobm_sha256', 'January', '01'],
  ['meta-custom-audiences', 'dobm_sha256', '13', undefined],
  ['meta-custom-audiences', 'dobd_sha256', '7', '07'],
  ['meta-custom-audiences', 'dobd_sha256', '32', undefined],
  ['meta-custom-audiences', 'extern_id_sha256', 'USER-ID-456', 'user-id-456'],
  // Snapchat: its page about the parameters of the Conversions API; Segment's tests of customer lists.
  ['snapchat-conversions', 'email', 'Person@Example.com', 'person@example.com'],
  ['snapchat-conversions', 'phone', '+44 844 412 4653', '448444124653'],
  ['snapchat-conversions', 'first_name', 'John', 'john'],
  ['snapchat-conversions', 'first_name', 'Raphaël', 'raphaël'],
  ['snapchat-customer-lists', 'phone_sha256', '01(706)-767-5127', '17067675127'],
  [
    'snapchat-customer-lists',
    'maid_sha256',
    'F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6',
    'f81d4fae-7dec-11d0-a765-00a0c91e6bf6',
  ],
  // TikTok Events: Segment's formatter.
  ['tiktok-events', 'email', ' Jane.Doe+news@Example.com', 'jane.doe+news@example.com'],
  ['tiktok-events', 'phone', '1 (234) 567-8901', '+12345678901'],
  ['tiktok-events', 'external_id', 'USER 1', 'user1'],
  // Reddit: its page about manual advanced matching of the pixel and the Conversions API. The first digest is from there.
  ...(['reddit-audiences', 'reddit-conversions'] as const).flatMap((slug): (typeof cases)[number][] => {
    const email = slug === 'reddit-audiences' ? 'email_sha256' : 'email'
    const [idfa, aaid] = slug === 'reddit-audiences' ? ['idfa_sha256', 'aaid_sha256'] : ['idfa', 'aaid']
    return [
      [slug, email, 'Al.ice$+Apple@Example.Com', 'alice@example.com'],
      [slug, email, "jane_o'neil-smith.7@mail.example.com", 'janeoneilsmith7@mail.example.com'],
      [slug, idfa, 'cdda802e-fb9c-47ad-9866-0794d394c912', 'CDDA802E-FB9C-47AD-9866-0794D394C912'],
      [slug, aaid, 'CDDA802E-FB9C-47AD-9866-0794D394C912', 'cdda802e-fb9c-47ad-9866-0794d394c912'],
    ]
  }),
  ['reddit-audiences', 'email_sha256', 'Jane.Doe+news@example.com', 'janedoe@example.com'],
  // TikTok: “Supported IDs and formats for a customer file”; E.164 for the streaming interface.
  ['tiktok-customer-file-audiences', 'email_sha256', 'Jane.Doe+news@example.com', 'jane.doe@example.com'],
  ['tiktok-audience-management', 'email_sha256', ' Jane.Doe+news@Example.com', 'jane.doe+news@example.com'],
  ['tiktok-audience-management', 'phone_256', '18005550100', '+18005550100'],
  ['snapchat-customer-lists', 'phone_sha256', '18005550100', '18005550100'],
]

for (const [slug, field, value, form] of cases) {
  test(`${slug} gets of ${field} ${JSON.stringify(value)} ${form ?? 'nothing'}`, () => {
    const connector = connectors.find((one) => one.slug === slug)
    const definition = connector?.destination?.records?.[field]
    assert.ok(definition, Object.keys(connector?.destination?.records ?? {}).join(', '))
    const made = fieldMapper(definition).map?.(value, undefined)
    assert.equal(made, form === undefined ? undefined : hash('sha256', form))
  })
}

test('The Trade Desk CRM gets digests in Base64', () => {
  const connector = connectors.find(({ slug }) => slug === 'the-trade-desk-crm-audiences')
  const { Email_SHA256: email, Phone_SHA256: phone } = connector?.destination?.records ?? {}
  // UID2: the examples of its page about normalisation and encoding.
  assert.equal(
    fieldMapper(email).map?.('Jane.Saoirse+Work@gmail.com', undefined),
    'ku4mBX7Z3qJTXWyLFB1INzkyR2WZGW4ANSJUiW21iI8=',
  )
  // UID2 rewrites only addresses at gmail.com.
  assert.equal(
    fieldMapper(email).map?.('Jane.Saoirse+Work@googlemail.com', undefined),
    hash('sha256', 'jane.saoirse+work@googlemail.com', 'base64'),
  )
  assert.equal(fieldMapper(phone).map?.('12345678901', undefined), 'EObwtHBUqDNZR33LNSMdtt5cafsYFuGmuY4ZLenlue4=')
})
