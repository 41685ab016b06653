import { example } from '../examples.ts'
import { limits } from '../limits.ts'
import { connectionStatuses, connectLinkStatuses } from '../terms.ts'
import { type Static, Type } from '../type.ts'
import { CreateConnection } from './connection.ts'
import {
  addressPatterns,
  exactly,
  flag,
  Identifier,
  identifier,
  oneOf,
  secret,
  text,
  trimmed,
  unixSeconds,
} from './kinds.ts'

/** Connect links: one-time pages on which customers configure connectors. Not in the specification. */

const shown = {
  redirectUrl: 'https://shop.example.com/settings/integrations',
  origin: 'https://shop.example.com',
  token: 'psl_Yx0nq2…',
}
const maybe = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description })
const {
  name,
  srcConnectorId,
  destConnectorId,
  srcConfigurationId,
  destConfigurationId,
  srcConnectionConfig,
  destConnectionConfig,
} = CreateConnection.properties

/** The connection that is created once its connectors are configured. */
export const ConnectionTemplate = exactly(
  {
    name,
    srcConnectorId,
    destConnectorId,
    srcConfigurationId,
    destConfigurationId,
    srcConnectionConfig,
    destConnectionConfig,
    activate: Type.Optional(flag('Whether the connection is also activated, if it is ready; false by default', true)),
  },
  { description: 'Connection to create when the customer finishes' },
)
export type ConnectionTemplate = Static<typeof ConnectionTemplate>

const connectorIds = (description: string) =>
  Type.Array(Identifier, {
    minItems: 1,
    maxItems: limits.connectLinkConnectorsMax,
    uniqueItems: true,
    description,
    examples: [[example.destination.connectorId]],
  })

export const CreateConnectLink = exactly(
  {
    accountId: identifier('the sub-account', example.accountId),
    connectorIds: Type.Optional(
      connectorIds('Connectors that the customer configures; omitted: both sides of the template'),
    ),
    configurationIds: Type.Optional(
      Type.Array(Identifier, {
        minItems: 1,
        maxItems: limits.connectLinkConnectorsMax,
        uniqueItems: true,
        description:
          'Configurations that the customer saves, at most one of each connector. Default: the first configuration of a connector',
        examples: [[example.destination.configurationId]],
      }),
    ),
    connectionTemplate: Type.Optional(ConnectionTemplate),
    redirectUrl: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.redirectUrlLengthMax,
        pattern: addressPatterns.page,
        description:
          'Redirect URL at the end, with `status` and `connectLinkId` in its query: an address with https, or with http on this machine, without credentials. Omitted: a page shows the end',
        examples: [shown.redirectUrl],
      }),
    ),
    expiry: Type.Optional(
      Type.Integer({
        minimum: limits.connectLinkSecondsMin,
        maximum: limits.connectLinkSecondsMax,
        default: limits.connectLinkSecondsDefault,
        description: 'Seconds within which the link can be opened',
        examples: [limits.connectLinkSecondsDefault],
      }),
    ),
  },
  { description: 'Connect link to create: with `connectorIds`, `connectionTemplate`, or both' },
)

const linkFields = {
  id: identifier('the connect link', example.linkId),
  accountId: identifier('the sub-account', example.accountId),
  connectorIds: Type.Array(Identifier, {
    description: 'Connectors that the customer configures',
    examples: [[example.destination.connectorId]],
  }),
  configurationIds: Type.Array(Identifier, {
    description: 'Configurations that the link names; the first configuration for other connectors',
    examples: [[]],
  }),
  connectionTemplate: maybe(ConnectionTemplate, 'Connection to create when the customer finishes; null: no connection'),
  redirectUrl: maybe(text('Redirect URL at the end', shown.redirectUrl), 'Redirect URL at the end'),
  status: oneOf(connectLinkStatuses, {
    description:
      'pending: not opened yet. opened: the customer works on it. completed: the customer has finished. cancelled: the customer has left it. expired: it was not opened or not finished in time. revoked: it was revoked, or its creator can no longer use it',
    examples: ['completed'],
  }),
  connectionId: maybe(
    identifier('the connection', example.connectionId),
    'The connection that was created; null: no connection',
  ),
  createdTime: unixSeconds('When it was created', example.createdTime),
  expiresTime: unixSeconds('When it expires: after this time it cannot be opened or, once open, cannot be finished'),
  openedTime: maybe(unixSeconds('When it was opened'), 'When it was opened; null: not yet'),
  finishedTime: maybe(unixSeconds('When it was completed or cancelled'), 'When it was finished; null: not yet'),
}
export const ConnectLink = exactly(linkFields, { description: 'Connect link' })
export type ConnectLink = Static<typeof ConnectLink>
export const CreatedConnectLink = exactly(
  {
    ...linkFields,
    url: secret(
      'The link: redirect the browser of the customer to it, or show it in a frame. It is returned once',
      `https://penstock.example.com/connect/${example.linkId}#${shown.token}`,
    ),
  },
  { description: 'Connect link with its address' },
)

const colour = (description: string, value: string) =>
  Type.String({ pattern: '^#[0-9a-fA-F]{6}$', description: `${description}, as #rrggbb`, examples: [value] })
const primary = colour('Colour of the header and of buttons', '#0a5c36')
const colourOfText = 'Colour of the text on it; the contrast is at least 4.5 to 1'
const colours = exactly(
  { primary, text: colour(colourOfText, '#ffffff') },
  { description: 'Colours; null: the colours of Penstock' },
)
const chosenColours = exactly(
  {
    primary,
    text: Type.Optional(colour(`${colourOfText}. Omitted: white or black, whichever is easier to read`, '#ffffff')),
  },
  { description: 'Colours to use' },
)
const logo = (description: string) =>
  Type.String({
    // Base64 characters, plus the prefix of a data URL.
    maxLength: Math.ceil(limits.logoBytesMax / 3) * 4 + 30,
    pattern: '^data:image/(?:png|webp);base64,[A-Za-z0-9+/]+={0,2}$',
    description,
    examples: ['data:image/png;base64,iVBORw0KGgo='],
  })
const brandName = Type.String({
  pattern: trimmed(100),
  description: 'Name that customers see, 1 to 100 characters; null: the name of the organization',
  examples: ['Acme Shop'],
})
const origins = Type.Array(Type.String({ minLength: 1, maxLength: 300, pattern: addressPatterns.origin }), {
  maxItems: limits.embeddingOriginsMax,
  uniqueItems: true,
  description:
    'Origins of the sites that can show the pages in a frame and receive their events: a scheme, a host and optionally a port, with https, or with http on this machine',
  examples: [[shown.origin]],
})
const brand = {
  name: Type.Union([brandName, Type.Null()]),
  logo: Type.Union([logo('Logo, as a data: URL; null: no logo'), Type.Null()]),
  colours: Type.Union([colours, Type.Null()], { description: 'Colours; null: the colours of Penstock' }),
}
/** Appearance of the pages of connect links, and the origins that can show them. */
export const Branding = exactly(
  { ...brand, allowedOrigins: origins },
  { description: 'Branding of the pages of connect links' },
)
export type Branding = Static<typeof Branding>
export const SetBranding = exactly(
  {
    name: Type.Optional(brand.name),
    logo: Type.Optional(
      Type.Union([
        logo(
          `Logo, as a data: URL of a PNG or WebP of at most ${limits.logoBytesMax / 1024} KiB and ${limits.logoPixelsMax} pixels a side; null: no logo`,
        ),
        Type.Null(),
      ]),
    ),
    colours: Type.Optional(
      Type.Union([chosenColours, Type.Null()], { description: 'Colours; null: the colours of Penstock' }),
    ),
    allowedOrigins: Type.Optional(origins),
  },
  { description: 'Branding to save' },
)

export const ConnectPageToken = exactly(
  {
    token: Type.String({
      minLength: 1,
      maxLength: 100,
      format: 'password',
      description: 'The part after # in the link or, if stated, the access token of its open page',
      examples: [shown.token],
    }),
  },
  { description: 'Token of a connect link' },
)

const connectorOnPage = exactly(
  {
    connectorId: identifier('the connector', example.destination.connectorId),
    name: text('Name', example.destination.name),
    logo: text('Address of its logo', example.destination.logo),
    platform: text('Name of its platform', 'Meta'),
    configured: flag('Whether it is configured', false),
    checkable: flag('Whether it can be checked'),
  },
  { description: 'Connector that the customer configures' },
)
/** Content of the page of a connect link. */
export const ConnectPage = exactly(
  {
    id: identifier('the connect link', example.linkId),
    accountId: identifier('the sub-account', example.accountId),
    accountName: text('Name of the sub-account', 'Acme Outdoor'),
    organizationName: text('Name of the organization, or the name in its branding', 'Acme'),
    logo: brand.logo,
    colours: brand.colours,
    allowedOrigins: origins,
    connectors: Type.Array(connectorOnPage, { description: 'Connectors that the customer configures' }),
    connectionName: maybe(
      text('Name of the connection', 'Spring customers'),
      'Name of the connection that is created at the end; null: no connection',
    ),
    activates: flag('Whether that connection moves data immediately'),
    opened: flag('Whether the link was opened', false),
    expiresTime: unixSeconds('When it ends'),
  },
  { description: 'Content of the page of a connect link' },
)
export type ConnectPage = Static<typeof ConnectPage>

export const ConnectPageOpened = exactly(
  {
    accessToken: secret('Bearer token of the page', 'psp_Yx0nq2…'),
    expiresTime: unixSeconds('When it ends'),
  },
  { description: 'Token of an open page' },
)

export const FinishConnectPage = exactly(
  {
    token: Type.String({
      minLength: 1,
      maxLength: 100,
      format: 'password',
      description: 'Access token of the page',
      examples: ['psp_Yx0nq2…'],
    }),
    outcome: oneOf(['completed', 'cancelled'], { description: 'How it ends', examples: ['completed'] }),
  },
  { description: 'How the page of a connect link ends' },
)
export const ConnectPageResult = exactly(
  {
    id: identifier('the connect link', example.linkId),
    status: oneOf(['completed', 'cancelled'], { description: 'How it has ended', examples: ['completed'] }),
    connectionId: linkFields.connectionId,
    connectionStatus: maybe(
      oneOf(connectionStatuses, { description: 'Status of the connection', examples: ['active'] }),
      'Status of the connection; null: no connection',
    ),
    redirectUrl: maybe(
      text('The redirect URL with the result', `${shown.redirectUrl}?status=completed&connectLinkId=${example.linkId}`),
      'The redirect URL with the result; null: the page shows the end',
    ),
  },
  { description: 'How a connect link has ended' },
)
export type ConnectPageResult = Static<typeof ConnectPageResult>
