import { limits } from '../limits.ts'
import { operation } from '../operation.ts'
import { page } from '../parameters.ts'
import {
  Branding,
  ConnectLink,
  ConnectPage,
  ConnectPageOpened,
  ConnectPageResult,
  ConnectPageToken,
  CreateConnectLink,
  CreatedConnectLink,
  FinishConnectPage,
  SetBranding,
} from '../schemas.ts'

/** Connect links, their page, and its branding. */
export const connectLinks = {
  createConnectLink: operation({
    tag: 'Connect links',
    summary: 'Create a connect link',
    description:
      'Creates a single-use link to a page on which your customer configures and checks connectors of one sub-account. Connectors that the sub-account does not have are added. The page can only configure these connectors. You need the scopes that the page uses: `connectors:read`, `connectors:write`, `secrets:write` and, with a template, `connections:write`.',
    actsIn: 'organization',
    scope: 'connect:write',
    body: CreateConnectLink,
    reply: CreatedConnectLink,
    success: 201,
    unrepeatable: true,
    done: 'Connect link created',
    refusals: ['connectors_incompatible', 'not_editable', 'not_found', 'quota_exceeded'],
    shows: { status: 'pending', openedTime: null, finishedTime: null, connectionId: null },
  }),
  listConnectLinks: operation({
    tag: 'Connect links',
    summary: 'List connect links',
    description: `Lists connect links, newest first. Links that have ended are kept for ${limits.connectLinkKeptDays} days.`,
    actsIn: 'organization or account',
    scope: 'connect:read',
    query: { ...page },
    reply: ConnectLink,
    list: 'paged',
    done: 'Connect links listed',
  }),
  getConnectLink: operation({
    tag: 'Connect links',
    summary: 'Get a connect link',
    description: 'Returns the status of a connect link. Its address is not returned again.',
    actsIn: 'organization',
    scope: 'connect:read',
    reply: ConnectLink,
    done: 'Connect link found',
  }),
  revokeConnectLink: operation({
    tag: 'Connect links',
    summary: 'Revoke a connect link',
    description:
      'Revokes a link: it can no longer be opened, and an open page stops working. Saved configurations stay. A link that has already ended does not change.',
    actsIn: 'organization',
    scope: 'connect:write',
    reply: ConnectLink,
    done: 'Connect link revoked',
    shows: { status: 'revoked', finishedTime: null, connectionId: null },
  }),
  getConnectPage: operation({
    tag: 'Connect links',
    summary: 'Get the page of a connect link',
    description:
      'With the token of a connect link, returns who asks for access and for what, and does not use up the link. With the token of its open page, returns the progress of the customer. It is a POST, so that the token is in no address.',
    actsIn: 'public',
    body: ConnectPageToken,
    reply: ConnectPage,
    done: 'Connect link found',
    refusals: ['link_invalid', 'rate_limited'],
  }),
  openConnectPage: operation({
    tag: 'Connect links',
    summary: 'Open a connect link',
    description: `Uses up a connect link, and returns a token with which its page can read the forms of its connectors, save them, authorize and check them, for ${limits.connectPageMinutes} minutes. If two requests use one link, one succeeds.`,
    actsIn: 'public',
    body: ConnectPageToken,
    reply: ConnectPageOpened,
    done: 'Connect link opened',
    refusals: ['link_invalid', 'rate_limited'],
  }),
  finishConnectPage: operation({
    tag: 'Connect links',
    summary: 'Finish a connect link',
    description:
      'Ends the page of a connect link. To complete it, all connectors must be configured; this creates the connection of its template. To cancel it keeps the saved configurations.',
    actsIn: 'public',
    body: FinishConnectPage,
    reply: ConnectPageResult,
    done: 'Connect link finished',
    refusals: [
      'connector_not_added',
      'connector_not_configured',
      'connectors_incompatible',
      'link_invalid',
      'quota_exceeded',
      'rate_limited',
    ],
  }),
  getBranding: operation({
    tag: 'Connect links',
    summary: 'Get the branding',
    description:
      'Returns the appearance of the pages of connect links, and the sites that can show them in a frame. By default, nothing is set.',
    actsIn: 'organization',
    scope: 'organization:read',
    reply: Branding,
    done: 'Branding found',
  }),
  setBranding: operation({
    tag: 'Connect links',
    summary: 'Set the branding',
    description:
      'Replaces the name, the logo and the colours of the pages of connect links, and the origins of the sites that can show them in a frame. Omitted values are removed. Colours in which text would be hard to read (WCAG AA) are refused.',
    actsIn: 'organization',
    scope: 'branding:write',
    body: SetBranding,
    reply: Branding,
    done: 'Branding saved',
  }),
} as const
