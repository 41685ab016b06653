import { ConnectorError, secret, select, text } from '@penstock/connector'
import { audienceDestination, replaceSetting, segmentColumns } from '../kit/audience-destination.ts'
import { type JsonObject, listIn, objectIn, textIn } from '../platform-api/json.ts'
import { accountPath, lacking, metaApi, metaAuth, permissions } from './api.ts'
import { externalKey, externalPath, limitedKey, limitedPath, personColumns, valueColumn } from './audience-columns.ts'
import { adAccounts, nextCursor } from './listings.ts'
import { metaAds } from './platform.ts'

const lists = (account: string) => `/${account}/customaudiences`

/** Customer lists of Meta: created, filled, emptied or replaced by hashed identifiers. */
export const metaCustomAudiences = audienceDestination({
  slug: 'meta-custom-audiences',
  name: 'Meta Custom Audiences',
  platform: metaAds,
  dataType: 'Custom Audiences',
  description:
    'Creates audiences on Facebook and Instagram from your customer records and keeps their members up to date.',
  actions: ['create', 'add', 'remove', 'replace', 'delete'],
  notes:
    'A new audience is created by rows with the action add; rows without an audience share one that is created for the connection. Replace discards all earlier members, and must finish within 85 minutes. If a transfer has lookalike_value, it creates value-based audiences, and the ad account must have accepted Meta’s terms for them; an existing audience must already be value-based. Limited data use counts for people in California; Meta finds out where a person is. Meta hides the exact size of audiences with fewer than 1,000 people.',
  tested:
    'Our own test server, which follows the published documentation of Meta’s Graph API; not Meta itself. No one else has checked the server, because the licence of Meta’s own client allows its use with Meta’s services only.',
  api: { version: 'Graph API v26.0', ends: 'about two years after its release; Meta announces the date' },
  secrets: {
    authType: select({
      keepsState: 'credential',
      label: 'Sign-in method',
      description:
        'Access token: enter a token. Sign in with Meta: also enter the ID and secret of an app, which an administrator at Meta creates',
      options: ['oauth2', 'api-token'],
      labels: { oauth2: 'Sign in with Meta', 'api-token': 'Access token' },
      default: 'oauth2',
    }),
    clientId: text({
      keepsState: 'credential',
      label: 'App ID',
      description: 'ID of your OAuth app at Meta',
      required: true,
      when: { authType: 'oauth2' },
    }),
    clientSecret: secret({
      label: 'App secret',
      description: 'Secret that belongs to the app ID',
      required: true,
      when: { authType: 'oauth2' },
    }),
    accessToken: secret({
      label: 'Access token',
      description: 'Token from an app that has permission to manage audiences',
      required: true,
    }),
  },
  platformApi: metaApi,
  auth: metaAuth('accessToken'),
  account: 'advertiserId',
  findAccount: async ({ settings }) => (settings.advertiserId === undefined ? '' : accountPath(settings)),
  settings: {
    advertiserId: text({
      asked: true,
      label: 'Ad account ID',
      description: 'ID of the ad account that owns the audiences',
      required: true,
    }),
    audienceSource: select({
      label: 'Audience source',
      description: 'Where the customer data comes from, as stored by Meta with the audience',
      options: ['CRM', 'Website', 'App'],
    }),
    idsField: text({ label: 'IDs field', description: 'Column of the source that contains the identifiers' }),
    pageId: text({
      label: 'Page ID',
      description: 'ID of the page that page-scoped IDs of people belong to',
    }),
    replaceExistingAudience: replaceSetting(
      'Each transfer replaces the existing members with the rows that it delivers',
    ),
  },
  listed: { advertiserId: adAccounts },
  batch: { rowsMax: 10_000, bytesMax: 8_000_000 },
  columns: {
    ...segmentColumns,
    action: { ...segmentColumns.action, values: ['add', 'remove', 'delete', 'replace'] },
    ...personColumns,
  },
  identity: ({ LOOKALIKE_VALUE, DATA_PROCESSING_OPTIONS, ...person }: JsonObject) => person,
  members: (person) =>
    Array.isArray(person[externalKey]) ? person[externalKey].map((id) => ({ ...person, [externalKey]: id })) : [person],
  finish: (person) => {
    const ids = [...new Set([person[externalKey] ?? [], person[externalPath] ?? []].flat())]
    return {
      read: {
        ...person,
        ...(ids.length > 0 && { [externalKey]: ids }),
        ...(person[limitedPath] === true && { [limitedKey]: ['LDU'] }),
      },
    }
  },
  lists: {
    id: /^\d+$/,
    page: ({ account }, after) => ({ path: lists(account), query: { fields: 'id,name,subtype', limit: '200', after } }),
    found: ({ json }) =>
      listIn(objectIn(json).data)
        .map(objectIn)
        .filter(({ subtype }) => (subtype ?? 'CUSTOM') === 'CUSTOM')
        .map(({ id, name }) => ({ id, name })),
    next: nextCursor,
    make: ({ account, settings: { audienceSource } }, name, columns) => ({
      path: lists(account),
      body: {
        name,
        description: `Kept by Penstock${audienceSource === undefined ? '' : `, from ${audienceSource}`}`,
        subtype: 'CUSTOM',
        customer_file_source: 'USER_PROVIDED_ONLY',
        ...(columns.includes(valueColumn) && { is_value_based: true }),
      },
    }),
    made: ({ json }) => objectIn(json).id,
    get: (_, id) => ({ path: `/${id}`, query: { fields: 'id,operation_status' } }),
    isThere({ json }) {
      if (textIn(objectIn(objectIn(json).operation_status).code) !== '471') return true
      const message = 'Meta has flagged the audience, so it cannot be changed; appeal the decision at Meta first.'
      throw new ConnectorError('account_restricted', message)
    },
    measure: {
      ask: (_, id) => ({
        path: `/${id}`,
        query: {
          fields: 'approximate_count_lower_bound,approximate_count_upper_bound,operation_status,delivery_status',
        },
      }),
      read({ json }) {
        const audience = objectIn(json)
        const { description } = objectIn(audience.operation_status)
        return {
          low: audience.approximate_count_lower_bound,
          high: audience.approximate_count_upper_bound,
          status: textIn(objectIn(audience.delivery_status).description) ?? description,
        }
      },
    },
  },
  send: async (client, context) => (await import('./send-people.ts')).openSender(client, context),
  replace: {
    open: async (client, context) => (await import('./replace-session.ts')).openReplacement(client, context),
  },
  check: {
    authentication: { path: '/me', query: { fields: 'id' } },
    credentials: 'the access token',
    permissions,
    lacks: lacking('ads_management'),
    account: ({ account }) => ({ path: `/${account}`, query: { fields: 'id' } }),
    noAccount: { path: '/me/adaccounts', query: { fields: 'id', limit: '1' } },
    means: ({ status, json }, { account }) => {
      const hasOne = account !== '' || status >= 300 || listIn(objectIn(json).data).length > 0
      return hasOne ? undefined : ['permission_denied', 'Give the user of the access token a role on an ad account.']
    },
  },
})
