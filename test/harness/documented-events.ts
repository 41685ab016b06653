import { createHash } from 'node:crypto'
import type { Values } from '@penstock/connector'
import { linkedinRoutes, linkedinSecrets, startLinkedIn } from '../../packages/connectors/test/linkedin-server.ts'
import { datasetId, metaSecrets, startMeta } from '../../packages/connectors/test/meta-server.ts'
import {
  conversionToken,
  eventsAccount,
  startPinterestEvents,
} from '../../packages/connectors/test/pinterest-events-server.ts'
import type { PlatformServer } from '../../packages/connectors/test/platform-server.ts'
import {
  snapchatRoutes,
  snapchatSecrets,
  snapchatSettings,
  startSnapchat,
} from '../../packages/connectors/test/snapchat-server.ts'
import { startTikTok, tiktokSecrets, tiktokSettings } from '../../packages/connectors/test/tiktok-server.ts'

/**
 * Examples of requests from the documents of platforms, and the same events in the form of ECAPI. Times are new, because platforms
 * refuse old events. Values that ECAPI cannot carry are omitted, and each example lists them.
 */
type DocumentedEvent = {
  readonly slug: string
  /** The document, and what of the example is not in ECAPI. */
  readonly source: string
  readonly event: Readonly<Record<string, unknown>>
  /** Values of columns that ECAPI does not have. */
  readonly more?: Readonly<Record<string, string>>
  readonly start: () => Promise<PlatformServer>
  readonly routes: (url: string) => Readonly<Record<string, string>>
  readonly secrets: Values & Record<string, string>
  readonly settings: Record<string, string | boolean>
  readonly requests: RegExp
  /** The body of the request. @param now the time of the event in seconds */
  readonly sent: (now: number) => unknown
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const only = (origin: string) => (url: string) => ({ [origin]: url })

export const documentedEvents: readonly DocumentedEvent[] = [
  {
    slug: 'meta-conversions',
    source:
      'examples/AdsPixelEventsPostCustom.php of Meta’s Business SDK, without phone numbers, fbp and delivery_category',
    event: {
      id: 'e-1',
      event_type: 'purchase',
      source: 'website',
      value: 123.45,
      currency_code: 'usd',
      user_data: {
        email_address: [sha256('joe@eg.com')],
        event_ip_address: '123.123.123.123',
        event_user_agent: 'Mozilla/5.0',
        click_id: 'AbCdEfGhIjKlMnOpQrStUvWxYz1234567890',
      },
      properties: { items: [{ id: 'product123', quantity: 1 }], page_url: 'http://jaspers-market.com/product/123' },
    },
    start: startMeta,
    routes: only('https://graph.facebook.com'),
    secrets: metaSecrets,
    settings: { datasetId },
    requests: /events$/,
    sent: (now) => ({
      data: [
        {
          event_name: 'Purchase',
          event_time: now,
          event_source_url: 'http://jaspers-market.com/product/123',
          action_source: 'website',
          event_id: 'e-1',
          user_data: {
            em: [sha256('joe@eg.com')],
            client_ip_address: '123.123.123.123',
            client_user_agent: 'Mozilla/5.0',
            fbc: `fb.1.${now * 1000}.AbCdEfGhIjKlMnOpQrStUvWxYz1234567890`,
          },
          custom_data: { contents: [{ id: 'product123', quantity: 1 }], currency: 'USD', value: 123.45 },
        },
      ],
      partner_agent: 'penstock',
    }),
  },
  {
    slug: 'linkedin-offline-conversions',
    source: 'LinkedIn’s collection for Postman, “Stream multiple conversion events”, without the job of the person',
    event: {
      id: 'abc12345',
      event_type: 'purchase',
      value: '1500.0',
      currency_code: 'USD',
      user_data: {
        email_address: ['bad8677b6c86f5d308ee82786c183482a5995f066694246c58c4df37b0cc41f1'],
        click_id: 'df5gf5-gh6t7-ph4j7h-fgf6n1',
        address: [{ first_name: 'mike', last_name: 'smith', country_code: 'us' }],
      },
    },
    start: startLinkedIn,
    routes: linkedinRoutes,
    secrets: linkedinSecrets,
    settings: { conversionRuleId: '104' },
    requests: /conversionEvents$/,
    sent: (now) => ({
      elements: [
        {
          conversion: 'urn:lla:llaPartnerConversion:104',
          conversionHappenedAt: now * 1000,
          conversionValue: { currencyCode: 'USD', amount: '1500.0' },
          user: {
            userIds: [
              {
                idType: 'SHA256_EMAIL',
                idValue: 'bad8677b6c86f5d308ee82786c183482a5995f066694246c58c4df37b0cc41f1',
              },
              { idType: 'LINKEDIN_FIRST_PARTY_ADS_TRACKING_UUID', idValue: 'df5gf5-gh6t7-ph4j7h-fgf6n1' },
            ],
            userInfo: { firstName: 'mike', lastName: 'smith', countryCode: 'US' },
          },
          eventId: 'abc12345',
        },
      ],
    }),
  },
  {
    slug: 'snapchat-conversions',
    source: 'developers.snap.com, “Using the API”, without phone numbers, brands, referrer_url and the device',
    event: {
      id: 'e-1',
      event_type: 'purchase',
      source: 'app',
      value: 142.52,
      currency_code: 'USD',
      user_data: { email_address: ['7b17fb0bd173f625b58636fb796407c22b3d16fc78302d79f0fd30c2fc2fc068'] },
      properties: { login_method: 'example_method' },
    },
    start: startSnapchat,
    routes: snapchatRoutes,
    secrets: snapchatSecrets,
    settings: { snapAppId: snapchatSettings.snapAppId, appId: 'com.some.app' },
    requests: /events$/,
    sent: (now) => ({
      data: [
        {
          event_name: 'PURCHASE',
          event_time: now,
          event_id: 'e-1',
          action_source: 'MOBILE_APP',
          app_data: {
            app_id: 'com.some.app',
            advertiser_tracking_enabled: 0,
            extinfo: ['a2', ...new Array<string>(15).fill('')],
          },
          user_data: { em: ['7b17fb0bd173f625b58636fb796407c22b3d16fc78302d79f0fd30c2fc2fc068'] },
          custom_data: { currency: 'USD', value: 142.52, sign_up_method: 'example_method' },
          integration: 'penstock',
        },
      ],
    }),
  },
  {
    slug: 'tiktok-events',
    source: 'business-api.tiktok.com, the request of “Report events”, without ttp and content_type',
    event: {
      id: '1616318632825_357',
      event_type: 'viewed_item',
      source: 'website',
      value: 100,
      currency_code: 'USD',
      user_data: {
        customer_identifier: sha256('user123'),
        email_address: [sha256('user@example.com')],
        phone_numbers: [sha256('+12125550000')],
        click_id: 'E.C.P.abc',
        event_ip_address: '203.0.113.7',
        event_user_agent: 'Chrome/91.0.4472.124',
      },
      properties: {
        page_url: 'http://demo.mywebsite.com/purchase',
        items: [{ id: '1077218', name: 'shirt' }],
      },
    },
    start: startTikTok,
    routes: only('https://business-api.tiktok.com'),
    secrets: tiktokSecrets,
    settings: tiktokSettings,
    requests: /track\/$/,
    sent: (now) => ({
      event_source: 'web',
      event_source_id: tiktokSettings.pixelCode,
      partner_name: 'Penstock',
      data: [
        {
          event: 'ViewContent',
          event_id: '1616318632825_357',
          event_time: now,
          user: {
            ttclid: 'E.C.P.abc',
            external_id: [sha256('user123')],
            phone: [sha256('+12125550000')],
            email: [sha256('user@example.com')],
            ip: '203.0.113.7',
            user_agent: 'Chrome/91.0.4472.124',
          },
          page: { url: 'http://demo.mywebsite.com/purchase' },
          properties: { contents: [{ content_id: '1077218', content_name: 'shirt' }], value: 100, currency: 'USD' },
        },
      ],
    }),
  },
  {
    slug: 'pinterest-conversions',
    source: 'the examples of v5/openapi.json of pinterest/api-description, without content_ids and the app',
    event: {
      id: 'eventId0001',
      event_type: 'purchase',
      source: 'website',
      value: 72.39,
      currency_code: 'USD',
      user_data: {
        email_address: [sha256('user@example.com')],
        gender: sha256('female'),
        address: [{ country_code: 'us', postal_code: sha256('10001') }],
        event_ip_address: '216.3.128.12',
        event_user_agent: 'Mozilla/5.0',
      },
      properties: {
        transaction_id: 'my_order_id',
        page_url: 'https://www.my-clothing-shop.org/',
        search_term: 'jeans',
        items: [
          {
            id: 'product-id-001',
            price: '14.99',
            quantity: 3,
            name: 'pinterest-shirt-girl',
            category: 'pinterest-clothing-shirts',
            brand: 'pinterest',
            discount: 2,
          },
        ],
      },
    },
    start: startPinterestEvents,
    routes: only('https://api.pinterest.com'),
    secrets: { conversionToken },
    settings: { adAccountId: eventsAccount },
    requests: /events$/,
    sent: (now) => ({
      data: [
        {
          event_name: 'checkout',
          action_source: 'web',
          event_time: now,
          event_id: 'eventId0001',
          event_source_url: 'https://www.my-clothing-shop.org/',
          partner_name: 'ss-penstock',
          user_data: {
            em: [sha256('user@example.com')],
            ge: [sha256('f')],
            zp: [sha256('10001')],
            country: [sha256('us')],
            client_ip_address: '216.3.128.12',
            client_user_agent: 'Mozilla/5.0',
          },
          custom_data: {
            currency: 'USD',
            value: '72.39',
            order_id: 'my_order_id',
            search_string: 'jeans',
            contents: [
              {
                id: 'product-id-001',
                item_price: '14.99',
                quantity: 3,
                item_name: 'pinterest-shirt-girl',
                item_category: 'pinterest-clothing-shirts',
                item_brand: 'pinterest',
              },
            ],
          },
        },
      ],
    }),
  },
]
