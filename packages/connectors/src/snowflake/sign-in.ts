import { secret, select, text } from '@penstock/connector'

/** The two ways to sign in to Snowflake, and what each of them needs. */
export const signIn = {
  authType: select({
    label: 'Auth type',
    description:
      'Whether a programmatic access token in place of the password (basic) or a key pair proves who signs in',
    options: ['basic', 'key-pair'],
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
    description:
      'Programmatic access token of this user; programs cannot sign in to the SQL API with any other password',
    required: true,
    when: { authType: 'basic' },
  }),
  privateKey: secret({
    label: 'Private key',
    description: 'Private half of the RSA key pair, in PEM and without a passphrase',
    required: true,
    when: { authType: 'key-pair' },
  }),
}

/** Where a key pair is presented, and whose it is. */
export const keyPairUser = {
  snowflakeHost: text({
    label: 'Snowflake host',
    description: 'URL of the host of your account',
    required: true,
    when: { authType: 'key-pair' },
    binds: ['password', 'privateKey'],
  }),
  snowflakeUser: text({
    label: 'Snowflake user',
    description: 'User to whom the key pair belongs',
    required: true,
    when: { authType: 'key-pair' },
  }),
}
