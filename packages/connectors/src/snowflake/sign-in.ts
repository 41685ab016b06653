import { secret, select, text } from '@penstock/connector'

/** The three ways to sign in to Snowflake, and what each of them needs. */
export const signIn = {
  authType: select({
    keepsState: 'credential',
    label: 'Sign-in method',
    description: 'Sign in with a programmatic access token, a key pair, or Snowflake OAuth',
    options: ['basic', 'key-pair', 'oauth'],
    labels: { basic: 'User name and token', 'key-pair': 'Key pair', oauth: 'OAuth' },
    required: true,
  }),
  username: text({
    keepsState: 'credential',
    label: 'Username',
    description: 'Login name of the user who signs in',
    required: true,
    when: { authType: 'basic' },
  }),
  password: secret({
    label: 'Password',
    description: 'Programmatic access token of this user; the SQL API accepts no other password',
    required: true,
    when: { authType: 'basic' },
  }),
  privateKey: secret({
    label: 'Private key',
    description: 'Private key of the RSA key pair, in PEM',
    required: true,
    when: { authType: 'key-pair' },
  }),
  passphrase: secret({
    label: 'Passphrase',
    description: 'Passphrase of the private key, if it is encrypted',
    when: { authType: 'key-pair' },
  }),
  oauthHost: text({
    keepsState: 'credential',
    label: 'OAuth host',
    description: 'URL of your account, which also issues the tokens',
    required: true,
    when: { authType: 'oauth' },
    binds: ['oauthClientSecret', 'oauthRefreshToken'],
  }),
  oauthClientId: text({
    keepsState: 'credential',
    label: 'OAuth client ID',
    description: 'Client ID of the security integration in Snowflake',
    required: true,
    when: { authType: 'oauth' },
  }),
  oauthClientSecret: secret({
    label: 'OAuth client secret',
    description: 'Secret of this client',
    required: true,
    when: { authType: 'oauth' },
  }),
  oauthRefreshToken: secret({
    label: 'OAuth refresh token',
    description: 'Refresh token that Snowflake issued to this client for a user. Enter a new one when it expires',
    required: true,
    when: { authType: 'oauth' },
  }),
}

/** The account to which a key pair is presented, and its user. */
export const keyPairUser = {
  snowflakeHost: text({
    label: 'Snowflake host',
    description: 'URL of your account',
    required: true,
    when: { authType: 'key-pair' },
    binds: ['password', 'privateKey', 'passphrase'],
  }),
  snowflakeUser: text({
    keepsState: 'credential',
    label: 'Snowflake user',
    description: 'User that the key pair belongs to',
    required: true,
    when: { authType: 'key-pair' },
  }),
}
