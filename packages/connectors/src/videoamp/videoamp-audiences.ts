import { boolean, column, defineConnector, secret, select, text } from '@penstock/connector'
import { videoamp } from './platform.ts'

/** Audiences for VideoAmp, handed over in a shared table of Snowflake. */
export const videoampAudiences = defineConnector({
  slug: 'videoamp-audiences',
  name: 'VideoAmp Audiences',
  platform: videoamp,
  dataType: 'audiences',
  dataTypeCategory: 'audience activation',
  status: 'withdrawn',
  withdrawn: {
    why: 'A table in a share makes no audience: that takes a request to VideoAmp’s interface, whose content VideoAmp describes to customers who are signed in, and to no one else.',
    instead:
      'Write the people with the Snowflake Data Store to a table that you share with VideoAmp, and create the audience in VideoAmp.',
  },
  description: 'Writes audiences to a table in your Snowflake account, which VideoAmp reads through a share.',
  actions: ['send'],
  notes:
    'A transfer ends when the table is written; VideoAmp then creates the audiences from it. The Snowflake user must be able to create the table without multi-factor authentication.',
  secrets: {
    username: text({
      label: 'Username',
      description: 'E-mail address of your VideoAmp login',
      required: true,
    }),
    password: secret({ label: 'Password', description: 'Password of your VideoAmp login', required: true }),
    clientId: text({ label: 'Client ID', description: 'ID of your client at VideoAmp', required: true }),
    accountId: text({ label: 'Account ID', description: 'ID of your account at VideoAmp', required: true }),
    authType: select({
      label: 'Snowflake auth type',
      description: 'Whether to sign in to Snowflake with a password (basic) or a key pair',
      options: ['basic', 'key-pair'],
      required: true,
    }),
    snowflakeAccount: text({
      label: 'Snowflake account',
      description: 'Locator of your Snowflake account',
      required: true,
      binds: ['snowflakePassword', 'snowflakePrivateKey'],
    }),
    snowflakeUser: text({ label: 'Snowflake user', description: 'Name of the Snowflake user', required: true }),
    snowflakeRole: text({
      label: 'Snowflake role',
      description: 'Role used to write and share the table',
      required: true,
    }),
    snowflakePassword: secret({
      label: 'Snowflake password',
      description: 'Password of the Snowflake user',
      required: true,
      when: { authType: 'basic' },
    }),
    snowflakePrivateKey: secret({
      label: 'Snowflake private key',
      description: 'Private key of the Snowflake user',
      required: true,
      when: { authType: 'key-pair' },
    }),
    snowflakeHost: text({
      label: 'Snowflake host',
      description: 'Host of your Snowflake account',
      required: true,
      binds: ['snowflakePassword', 'snowflakePrivateKey'],
      when: { authType: 'key-pair' },
    }),
  },
  destination: {
    fields: {
      warehouse: text({ label: 'Snowflake warehouse', description: 'Warehouse used to write rows', required: true }),
      database: text({
        label: 'Snowflake database',
        description: 'Database of the audience table',
        required: true,
      }),
      schema: text({ label: 'Snowflake schema', description: 'Schema of the audience table', required: true }),
      table: text({
        label: 'Snowflake table',
        description: 'Name of the audience table; it is created if it does not exist',
        required: true,
      }),
      share: text({
        label: 'Snowflake share',
        description: 'Share through which VideoAmp reads the table',
        required: true,
      }),
      currencyOfRecord: text({
        label: 'Currency of record',
        description: 'Currency of amounts',
        required: true,
      }),
      permissionedAgencyAdvertiserIds: text({
        label: 'Permissioned agency advertiser IDs',
        description: 'IDs of the agency advertisers that may use the audience',
      }),
      permissionedAgencyIds: text({
        label: 'Permissioned agency IDs',
        description: 'IDs of the agencies that may use the audience',
      }),
      validateOnly: boolean({
        label: 'Validate only',
        description: 'Whether the audience is only validated and not created',
      }),
    },
    records: {
      AUDIENCE_ID: column({ description: 'ID of the audience', oneOf: 'audience' }),
      AUDIENCE_NAME: column({ description: 'Name of the audience', oneOf: 'audience' }),
      OPERATION_ID: column({ description: 'ID of the operation to which the row belongs' }),
      OPEN_ID: column({ description: 'OpenID of the person', oneOf: 'identifier' }),
      BLOCKGRAPH_ID: column({ description: 'ID at Blockgraph', oneOf: 'identifier' }),
      CIRCANA_SYNTHETIC_ID: column({ description: 'Synthetic ID at Circana', oneOf: 'identifier' }),
      LIVE_RAMP: column({ description: 'ID at LiveRamp', oneOf: 'identifier' }),
      TU_HH_ID: column({ description: 'ID of the household at TransUnion', oneOf: 'identifier' }),
      TU_IND_ID: column({ description: 'ID of the person at TransUnion', oneOf: 'identifier' }),
      DEVICE_ID: column({ description: 'ID of a device', oneOf: 'identifier' }),
      DEVICE_ID_WITH_TYPE: column({
        description: 'ID of a device with the kind of ID',
        oneOf: 'identifier',
      }),
      IP: column({ description: 'IP address, not hashed', oneOf: 'identifier' }),
      SHA256_EMAIL: column({
        description: 'Hashed e-mail address',
        normalise: 'email',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      SHA256_IP: column({
        description: 'Hashed IP address',
        normalise: 'lower',
        synonyms: ['ip_address'],
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      CREATED_AT: column({ description: 'When the row was written; set automatically if it is empty' }),
    },
  },
})
