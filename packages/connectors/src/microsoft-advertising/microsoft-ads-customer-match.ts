import { boolean, ConnectorError, secret, select, text } from '@penstock/connector'
import { audienceDestination, replaceSetting, segmentColumns } from '../kit/audience-destination.ts'
import { digest } from '../kit/columns.ts'
import { isSuccess } from '../platform-api/call.ts'
import type { PlatformCall } from '../platform-api/client.ts'
import { isObject, listIn, objectIn, textIn } from '../platform-api/json.ts'
import { accountProperties, campaignManagement, itemErrorsOf } from './api.ts'
import { microsoftAuthorization } from './authorization.ts'
import { customersAndAccounts } from './listings.ts'
import { microsoftApi } from './microsoft-version.ts'
import { microsoftAdvertising } from './platform.ts'

/** Customer lists of the account and its customer. @param ids `null` for all: an empty list is refused */
const query = (ids: readonly string[] | null): PlatformCall => ({
  method: 'POST',
  path: '/Audiences/QueryByIds',
  body: { AudienceIds: ids, Type: 'CustomerList' },
  repeatable: true,
})
const found = ({ json }: { json: unknown }) =>
  listIn(objectIn(json).Audiences)
    .filter(isObject)
    .filter(({ Type }) => (Type ?? 'CustomerList') === 'CustomerList')
    .map(({ Id: id, Name: name }) => ({ id, name }))

/** Customer match lists of Microsoft Advertising, filled with hashed e-mail addresses. */
export const microsoftAdsCustomerMatch = audienceDestination({
  slug: 'microsoft-ads-customer-match',
  name: 'Microsoft Advertising Customer Match',
  platform: microsoftAdvertising,
  dataType: 'customer match',
  description: 'Keeps customer lists for Bing campaigns up to date with the hashed e-mail addresses of your customers.',
  actions: ['create', 'add', 'remove', 'replace'],
  notes:
    'Microsoft’s Customer Match Terms must be accepted: with “Accept Customer Match Terms” in the connection, or by hand when you create a customer list in Microsoft Advertising. If Microsoft does not let a connection that accepts them create a list, create it by hand. Microsoft may take hours to process a change and 48 hours to show a size, and needs 300 matched people. Replace discards everyone on the list: the first batch of the transfer replaces, and later ones add. Microsoft cannot exchange a list at once: if such a transfer fails in between, the list has only a part of the people until a transfer succeeds. To replace, turn on “Replace existing audience” or map the action to the one value replace: then the service reads the whole source and counts its records before it changes the list, and replays no rejected records. It does neither if the action replace comes from a column; then give it to all rows, and do not replay rejected ones. Each request needs a developer token, which you get in Microsoft’s developer portal. Send only people who have agreed to it: Microsoft does not accept information on consent.',
  tested:
    'Our own test server, which follows the published documentation of Microsoft Advertising’s Campaign Management API; not Microsoft itself.',
  api: microsoftApi,
  secrets: {
    authType: select({
      keepsState: 'credential',
      label: 'Sign-in method',
      description: 'Grant access to an API app, or enter tokens',
      options: ['oauth2', 'api-token'],
      labels: { oauth2: 'Sign in with Microsoft', 'api-token': 'Access token' },
      default: 'oauth2',
    }),
    clientId: text({
      keepsState: 'credential',
      label: 'Client ID',
      description: 'ID of the app that calls the API',
      required: true,
    }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Secret that belongs to the client ID',
      required: true,
    }),
    accessToken: secret({
      label: 'Access token',
      description: 'Access token for calls to the API',
      required: true,
      when: { authType: 'api-token' },
    }),
    refreshToken: secret({
      label: 'Refresh token',
      description: 'Refresh token, which renews the access token when it expires',
      required: true,
    }),
    developerToken: secret({
      label: 'Developer token',
      description: 'Developer token that Microsoft Advertising gave you for its API',
      required: true,
      when: { authType: 'api-token' },
    }),
    appDeveloperToken: secret({
      label: 'App developer token',
      description: 'Developer token that Microsoft Advertising gave you for its API; it is sent with each request',
      when: { authType: 'oauth2' },
    }),
  },
  authorization: microsoftAuthorization({ authType: 'oauth2' }),
  platformApi: campaignManagement,
  auth: { open: async (context) => (await import('./microsoft-api.ts')).openCredentials(context) },
  account: 'accountId',
  settings: {
    customerId: text({
      asked: true,
      label: 'Customer ID',
      description: 'ID of the customer that the ad account belongs to, digits only',
      required: true,
    }),
    accountId: text({
      asked: true,
      label: 'Account ID',
      description: 'ID of the ad account that owns the list, digits only',
      required: true,
    }),
    acceptTerms: boolean({
      keepsState: 'onward',
      label: 'Accept Customer Match Terms',
      description: 'Accept the terms with each transfer, and confirm that you may share the data of these people',
      default: false,
    }),
    replaceExistingAudience: replaceSetting(
      'Each transfer replaces the earlier members of the lists to which it adds people',
    ),
  },
  listed: customersAndAccounts,
  batch: { rowsMax: 1000, bytesMax: 1_000_000 },
  columns: {
    segment_name: { ...segmentColumns.segment_name, description: 'Name of the list to create' },
    segment_id: { ...segmentColumns.segment_id, description: 'ID of the list to change' },
    action: { ...segmentColumns.action, values: ['create', 'add', 'remove', 'replace'] },
    email_sha256: digest('email', 'Hashed e-mail address', 'email'),
  },
  lists: {
    id: /^\d{1,20}$/,
    page: () => query(null),
    found,
    next: () => undefined,
    make: (_, name) => ({ path: '/Audiences', body: { Audiences: [{ Name: name, Type: 'CustomerList' }] } }),
    made({ json }) {
      const [error] = itemErrorsOf(json, 1)
      if (!error) return listIn(objectIn(json).AudienceIds)[0]
      throw new ConnectorError('request_refused', `Microsoft Advertising did not create the list (${error.shown}).`)
    },
    get: (_, id) => query([id]),
    isThere: (answer, id) => found(answer).some((list) => textIn(list.id) === id),
  },
  replace: { byRows: true },
  request: (people, { audience, verb, replaces, settings }) => ({
    path: '/CustomerListUserData/Apply',
    body: {
      CustomerListUserData: {
        ActionType: verb === 'remove' ? 'Remove' : replaces ? 'Replace' : 'Add',
        AudienceId: audience,
        CustomerListItemSubType: 'Email',
        CustomerListItems: people.map(({ email }) => email),
        ...(settings.acceptTerms === true && { AcceptCustomerMatchTerm: true }),
      },
    },
  }),
  answer: {
    blames: (answer, people) =>
      isSuccess(answer)
        ? itemErrorsOf(answer.json, people.length).map(({ index = -1, shown }) => ({
            at: index,
            reason: `Microsoft Advertising does not accept the identifier (${shown}).`,
            field: 'email_sha256',
          }))
        : [],
    means: (answer) => (isSuccess(answer) && !isObject(answer.json) ? 'malformed_response' : undefined),
  },
  check: {
    authentication: async (context) => (await import('./microsoft-api.ts')).openMicrosoftTokens(context).token(),
    credentials: 'the app and the refresh token',
    account: () => accountProperties,
  },
})
