import { date, defineConnector, number, secret, select, syncMode, text } from '@penstock/connector'
import { secretFields } from './api/secret-fields.ts'
import { serversError } from './api/servers.ts'
import { definitionLengthMax } from './definition/definition.ts'
import { definitionError, erasedBy } from './definition/parse-definition.ts'
import { httpApiPlatform } from './platform.ts'
import { removalIn } from './sending/removals.ts'

const oauth = ['client credentials', 'refresh token']
const keys = ['API key', 'session token']
const isName = (name: string) =>
  /^[\w.-]{1,100}$/.test(name) ? undefined : 'must have letters, digits and any of _ . - alone'

/** Any HTTP API, described by a text: as a source if it answers JSON, CSV or XML, and as a destination. */
export const httpApi = defineConnector({
  slug: 'http-api',
  name: 'HTTP API',
  platform: httpApiPlatform,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description:
    'Reads lists of records from any HTTP API that answers JSON, CSV or XML, and sends rows to any HTTP API, as a definition in YAML or JSON describes them.',
  actions: ['get', 'send'],
  notes:
    'Each API is a configuration of its own, and the guide says how to write its definition. As a destination, it sends rows by an operation of the definition, which says what is sent and what an answer says of each row. A row has an ID that stays the same if it is sent again, and a request has one too: use them where the API recognises repetitions. Requests go to the servers of the form alone, redirects are not followed, and expressions cannot name a secret. Incremental reads the time since the end of the last transfer, with the days that the cursor looks back; rows at the edges of two requests can come twice, so write them with their key. Deleted records are not reported. An interrupted transfer resumes at the last page. Without listed columns, a stream has the columns of the first page that has records, and fields that occur only later are left out. A list has at most 100,000 pages, and an answer at most 16 MiB.',
  tested:
    'Our own servers, with every kind of page, sign-in and result that a definition can name, and ten in the form of known APIs, without TLS.',
  api: { version: 'that of the base URL', ends: 'as its operator says' },
  secrets: {
    url: text({
      label: 'Base URL',
      description: 'Address that the paths of the definition are appended to, such as https://api.example.com/v1',
      required: true,
      binds: secretFields,
    }),
    servers: text({
      label: 'Other servers',
      description:
        'Further servers for streams, such as files=https://files.example.com/v1, separated by spaces. The key is sent to them too',
      binds: secretFields,
      wrong: serversError,
    }),
    authentication: select({
      keepsState: 'credential',
      // A refresh token is sent in one of these ways only.
      binds: secretFields.filter((name) => name !== 'refreshToken'),
      label: 'Authentication',
      description: 'How requests are authenticated',
      options: [
        'none',
        'API key',
        'bearer token',
        'user name and password',
        'key as user name',
        'session token',
        ...oauth,
      ],
      labels: {
        none: 'None',
        'API key': 'API key',
        'bearer token': 'Bearer token',
        'user name and password': 'User name and password',
        'key as user name': 'API key as user name',
        'session token': 'Session token after a login',
        'client credentials': 'OAuth 2.0: client ID and secret',
        'refresh token': 'OAuth 2.0: refresh token',
      },
      default: 'none',
    }),
    apiToken: secret({
      label: 'API key or token',
      description: 'Key or token that is sent with each request',
      required: true,
      when: { authentication: ['API key', 'bearer token', 'key as user name'] },
    }),
    keyIn: select({
      keepsState: 'credential',
      binds: ['apiToken', 'password'],
      label: 'Key is sent in',
      description: 'Where requests contain the key',
      options: ['header', 'query'],
      labels: { header: 'Header', query: 'Query' },
      default: 'header',
      when: { authentication: keys },
    }),
    keyName: text({
      keepsState: 'credential',
      binds: ['apiToken', 'password'],
      label: 'Key name',
      description: 'Name of the header or query parameter for the key',
      default: 'X-API-Key',
      when: { authentication: keys },
      wrong: isName,
    }),
    keyPrefix: text({
      keepsState: 'credential',
      binds: ['apiToken', 'password'],
      label: 'Key prefix',
      description: 'Prefix that the API expects before the key, such as Token',
      when: { authentication: keys },
    }),
    username: text({
      keepsState: 'credential',
      label: 'User name',
      description: 'User of HTTP basic authentication',
      required: true,
      when: { authentication: ['user name and password', 'session token'] },
    }),
    password: secret({
      label: 'Password',
      description: 'Password of this user; some APIs have none',
      when: { authentication: ['user name and password', 'key as user name', 'session token'] },
    }),
    loginUrl: text({
      keepsState: 'credential',
      label: 'Login URL',
      description: 'Address that returns a session token for the user name and the password, with https://',
      required: true,
      when: { authentication: 'session token' },
      binds: ['password'],
    }),
    loginIn: select({
      keepsState: 'credential',
      binds: ['password'],
      label: 'Login is sent in',
      description: 'Where the login request contains the user name and the password',
      options: ['body', 'form', 'header'],
      labels: { body: 'JSON', form: 'Form', header: 'Header, as HTTP basic authentication' },
      default: 'body',
      when: { authentication: 'session token' },
    }),
    loginNames: text({
      keepsState: 'credential',
      binds: ['password'],
      label: 'Names in the login',
      description: 'Names of the two fields in the login request, separated by a comma',
      default: 'username,password',
      when: { authentication: 'session token' },
      wrong: (names) =>
        /^[^,]{1,100},[^,]{1,100}$/.test(names) ? undefined : 'must be two names, such as email,password',
    }),
    loginPath: text({
      keepsState: 'credential',
      binds: ['password'],
      label: 'Path to the token',
      description: 'Path to the token in the response to the login, such as data.token',
      default: 'token',
      when: { authentication: 'session token' },
    }),
    tokenUrl: text({
      keepsState: 'credential',
      label: 'Token URL',
      description: 'Address that returns access tokens, with https://',
      required: true,
      when: { authentication: oauth },
      binds: ['clientSecret', 'refreshToken'],
    }),
    clientId: text({
      keepsState: 'credential',
      label: 'Client ID',
      description: 'Identifier of the client at the token URL',
      required: true,
      when: { authentication: oauth },
    }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Secret of this client',
      required: true,
      when: { authentication: oauth },
    }),
    refreshToken: secret({
      label: 'Refresh token',
      description: 'Token to exchange for access tokens. If the API issues a new one, it replaces this token',
      required: true,
      when: { authentication: 'refresh token' },
    }),
    scope: text({
      keepsState: 'credential',
      label: 'Scopes',
      description: 'Scopes to request, separated by spaces',
      when: { authentication: oauth },
    }),
    clientIn: select({
      keepsState: 'credential',
      binds: ['clientSecret'],
      label: 'Client is sent in',
      description: 'Where token requests contain the client ID and the secret',
      options: ['body', 'header'],
      labels: { body: 'Body', header: 'Header' },
      default: 'body',
      when: { authentication: oauth },
    }),
    urlParameters: text({
      binds: ['password', 'clientSecret', 'refreshToken'],
      label: 'More parameters',
      description: 'Parameters that the login or the token URL expects, such as audience=api&realm=acme',
      when: { authentication: ['session token', ...oauth] },
    }),
    secondKey: secret({
      label: 'Second key',
      description: 'Second key that the API expects with each request',
    }),
    secondKeyIn: select({
      keepsState: 'credential',
      binds: ['secondKey'],
      label: 'Second key location',
      description: 'Where requests contain the second key',
      options: ['header', 'query'],
      labels: { header: 'Header', query: 'Query' },
      default: 'header',
    }),
    secondKeyName: text({
      keepsState: 'credential',
      binds: ['secondKey'],
      label: 'Second key name',
      description: 'Name of the header or query parameter for the second key',
      wrong: isName,
    }),
    definition: text({
      label: 'Definition',
      description: 'The streams and operations of the API, in YAML or JSON, as the guide HTTP API describes',
      required: true,
      max: definitionLengthMax,
      wrong: definitionError,
    }),
  },
  source: {
    fields: {
      stream: text({
        asked: true,
        label: 'Stream',
        description: 'Name of the stream to read, as in the definition',
        required: true,
      }),
      syncMode: syncMode(['Full', 'Incremental'], {
        description: 'Read everything each time, or only the time since the last transfer',
      }),
      startDate: date({
        label: 'Start date',
        description: 'First day to read of a stream with a cursor, unless the definition sets it',
      }),
      lookBackDays: number({
        keepsState: 'onward',
        label: 'Look-back window in days',
        description:
          'Number of days that each transfer reads again, for records that arrive late. By default as in the definition. These records are sent again, so write them with their key',
        min: 0,
        max: 365,
        when: { syncMode: 'Incremental' },
      }),
    },
    backfill: { by: 'times' },
    open: async (context) => (await import('./reading/read.ts')).open(context),
    ask: async (context) => (await import('./reading/ask.ts')).ask(context),
    discover: {
      stream: async (context) => (await import('./reading/discover.ts')).discoverStreams(context),
      columns: async (context) => (await import('./reading/discover.ts')).discoverStreamColumns(context),
    },
  },
  destination: {
    fields: {
      operation: text({
        asked: true,
        label: 'Operation',
        description: 'Name of the operation that sends the rows, as in the definition',
        required: true,
      }),
      parameters: text({
        label: 'Parameters',
        description: 'Values for the operation, if the definition names any, such as list=Newsletter&region=EU',
      }),
      removal: text({
        label: 'Removal operation',
        description: 'For a mirror: the operation that gets the rows that left the source',
      }),
      removeBy: text({
        label: 'Removal columns',
        description: 'Columns that the removal operation gets, such as email, or account,email',
      }),
    },
    discover: {
      operation: async (context) => (await import('./sending/deliver.ts')).discoverOperations(context),
      removal: async (context) => (await import('./sending/deliver.ts')).discoverOperations(context),
      columns: async (context) => (await import('./sending/deliver.ts')).discoverOperationColumns(context),
    },
    erasure: {
      what: 'What the section erasure of the definition asks the API to delete.',
      by: ({ definition }) => erasedBy(String(definition ?? '')),
      open: async (context) => (await import('./sending/erase.ts')).openErasure(context),
    },
    deliver: {
      // All requests of a batch are sent again if one of them fails.
      batch: () => ({ rowsMax: 500, bytesMax: 1 << 20 }),
      recognisesKeys: true,
      removesBy: (settings) => removalIn(settings)?.by,
      open: async (context) => (await import('./sending/deliver.ts')).open(context),
      try: async (context) => (await import('./sending/try.ts')).tryOperation(context),
      inspect: async (context) => (await import('./sending/deliver.ts')).inspect(context),
      rejectionsOf: async (context) => (await import('./sending/deliver.ts')).rejectionsOf(context),
    },
  },
  check: async (context) => (await import('./reading/discover.ts')).check(context),
})
