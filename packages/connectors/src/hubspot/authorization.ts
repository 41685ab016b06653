import { type AuthorizationServer, authorizationAt } from '@penstock/connector'
import { hubspotOrigin, paths } from './api.ts'

/** Scopes that an account may lack, because they belong to a subscription. HubSpot grants only scopes that the account has. */
const optionalScopes = [
  ...['companies', 'deals', 'custom'].flatMap((type) => [`crm.objects.${type}.read`, `crm.objects.${type}.write`]),
  'crm.schemas.custom.read',
  'crm.lists.read',
  'crm.lists.write',
  'tickets',
]

const hubspot: AuthorizationServer = {
  slug: 'hubspot',
  name: 'HubSpot',
  authorizeUrl: 'https://app.hubspot.com/oauth/authorize',
  tokenUrl: `${hubspotOrigin}${paths.token}`,
  // HubSpot documents PKCE for its tokens, but not for this page.
  pkce: false,
  authorizeParameters: { optional_scope: optionalScopes.join(' ') },
  registration: `Create an app with OAuth in a developer project of HubSpot, with the required scopes, and with these as optional ones: ${optionalScopes.join(', ')}.`,
  withoutRefreshToken: 'Check that the app at HubSpot uses OAuth, then authorize the connector again.',
}

/** HubSpot, for contacts, and for whatever else the account lets an app see. */
export const authorization = authorizationAt(hubspot, ['crm.objects.contacts.read', 'crm.objects.contacts.write'], {
  sets: { authType: 'oauth2' },
})
