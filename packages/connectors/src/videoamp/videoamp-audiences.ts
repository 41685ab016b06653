import { boolean, column, defineConnector, secret, select, text } from '@penstock/connector'
import { videoamp } from './platform.ts'

/** Audiences for VideoAmp, handed over in a shared table of Snowflake. */
export const videoampAudiences = defineConnector({
  slug: 'videoamp-audiences',
  name: 'VideoAmp Audiences',
  platform: videoamp,
  dataType: 'audiences',
  dataTypeCategory: 'audience activation',
  description: 'Fills a table in your Snowflake account with audiences, which VideoAmp reads through a share.',
  actions: ['send'],
  notes:
    'A run ends when the table is written: VideoAmp makes the audiences from it afterwards. The user in Snowflake must be able to create the table without multi-factor authentication.',
  secrets: {
    username: text({
      label: 'Username',
      description: 'E-mail address with which you log in to VideoAmp',
      required: true,
    }),
    password: secret({ label: 'Password', description: 'Password of your VideoAmp login', required: true }),
    clientId: text({ label: 'Client ID', description: 'ID of your client at VideoAmp', required: true }),
    accountId: text({ label: 'Account ID', description: 'ID of your account at VideoAmp', required: true }),
    authType: select({
      label: 'Snowflake auth type',
      description: 'Whether a password (basic) or a key pair proves who signs in to Snowflake',
      options: ['basic', 'key-pair'],
      required: true,
    }),
    snowflakeAccount: text({
      label: 'Snowflake account',
      description: 'Locator of your Snowflake account',
      required: true,
      binds: ['snowflakePassword', 'snowflakePrivateKey'],
    }),
    snowflakeUser: text({ label: 'Snowflake user', description: 'User who signs in to Snowflake', required: true }),
    snowflakeRole: text({
      label: 'Snowflake role',
      description: 'Role under which the table is written and shared',
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
      description: 'Private half of the key pair of the Snowflake user',
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
      warehouse: text({ label: 'Snowflake warehouse', description: 'Warehouse that does the writing', required: true }),
      database: text({
        label: 'Snowflake database',
        description: 'Database that holds the audience table',
        required: true,
      }),
      schema: text({ label: 'Snowflake schema', description: 'Schema that holds the audience table', required: true }),
      table: text({
        label: 'Snowflake table',
        description: 'Name of the audience table; it is created if it does not exist',
        required: true,
      }),
      share: text({
        label: 'Snowflake share',
        description: 'Share through which VideoAmp may read the table',
        required: true,
      }),
      currencyOfRecord: text({
        label: 'Currency of record',
        description: 'Currency in which amounts are given',
        required: true,
      }),
      permissionedAgencyAdvertiserIds: text({
        label: 'Permissioned agency advertiser IDs',
        description: 'IDs of the advertisers of agencies to whom the audience is open',
      }),
      permissionedAgencyIds: text({
        label: 'Permissioned agency IDs',
        description: 'IDs of the agencies to whom the audience is open',
      }),
      validateOnly: boolean({
        label: 'Validate only',
        description: 'Whether the audience is only checked and not made',
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
        description: 'ID of a device together with what kind of ID it is',
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
      CREATED_AT: column({ description: 'When the row was written; filled in if left empty' }),
    },
  },
})
