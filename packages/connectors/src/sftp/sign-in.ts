import { number, secret, select, text } from '@penstock/connector'

/** The server, and the user on it. @param secrets the secrets that the connector signs in with */
export const server = (secrets: readonly string[]) => ({
  hostname: text({
    label: 'Hostname',
    description: 'Name or IP address of the server',
    required: true,
    binds: secrets,
  }),
  port: number({
    label: 'Port',
    description: 'Port on which the server listens',
    required: true,
    default: 22,
    min: 1,
    max: 65535,
    binds: secrets,
  }),
  username: text({
    keepsState: 'credential',
    label: 'Username',
    description: 'User who signs in to the server',
    required: true,
  }),
})

/** The identity of the server. @param secrets the secrets that the connector signs in with */
export const hostKey = (secrets: readonly string[]) => ({
  hostKeyFingerprint: text({
    keepsState: 'credential',
    label: 'Host key fingerprint',
    description: 'Fingerprints from ssh-keygen -lf, separated by commas. A check shows the current one',
    binds: secrets,
    pins: { hostKeyCheck: 'fingerprint' },
  }),
  hostKeyCheck: select({
    keepsState: 'credential',
    label: 'Host key check',
    description: 'Accept only keys with the fingerprint below, or trust the first key and then only this key',
    options: ['fingerprint', 'first-use'],
    labels: { fingerprint: 'Compare with the fingerprint', 'first-use': 'Accept the first key' },
    default: 'fingerprint',
    binds: secrets,
  }),
})

/** A user of a server of one's own, with a private key or a password. */
export const signIn = {
  ...server(['sshPrivateKey', 'passphrase', 'password']),
  authentication: select({
    keepsState: 'credential',
    label: 'Authentication',
    description: 'How the user signs in',
    options: ['private key', 'password'],
    labels: { 'private key': 'Private key', password: 'Password' },
    default: 'private key',
  }),
  sshPrivateKey: secret({
    label: 'SSH private key',
    description: 'Private key of the user, in OpenSSH or PEM format',
    required: true,
    when: { authentication: 'private key' },
  }),
  passphrase: secret({
    label: 'Passphrase',
    description: 'Passphrase of the private key, if it is encrypted',
    when: { authentication: 'private key' },
  }),
  password: secret({
    label: 'Password',
    description: 'Password of the user',
    required: true,
    when: { authentication: 'password' },
  }),
  // A private key proves who signs in and is never sent.
  ...hostKey(['password']),
}
