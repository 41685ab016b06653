import { secret, select, text } from '@penstock/connector'

/** The two ways to sign in to Snowflake, and what each of them needs. */
export const signIn = {
  authType: select({
    label: 'Auth type',
    description: 'Whether to sign in with a programmatic access token as the password (basic), or with a key pair',
    options: ['basic', 'key-pair'],
    labels: { basic: 'User name and token', 'key-pair': 'Key pair' },
    required: true,
  }),
  username: text({
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
    description: 'Private key of the RSA key pair, in PEM, without a passphrase',
    required: true,
    when: { authType: 'key-pair' },
  }),
}

/** Where a key pair is presented, and whose it is. */
export const keyPairUser = {
  snowflakeHost: text({
    label: 'Snowflake host',
    description: 'URL of your account',
    required: true,
    when: { authType: 'key-pair' },
    binds: ['password', 'privateKey'],
  }),
  snowflakeUser: text({
    label: 'Snowflake user',
    description: 'User that the key pair belongs to',
    required: true,
    when: { authType: 'key-pair' },
  }),
}
