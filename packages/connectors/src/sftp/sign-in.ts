import { number, select, text } from '@penstock/connector'

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
  username: text({ label: 'Username', description: 'User who signs in to the server', required: true }),
})

/** The identity of the server. @param secrets the secrets that the connector signs in with */
export const hostKey = (secrets: readonly string[]) => ({
  hostKeyFingerprint: text({
    label: 'Host key fingerprint',
    description:
      'Fingerprint of the server’s key as printed by ssh-keygen -lf: SHA256: and Base64. Separate several with commas. Without one, a check shows the fingerprint of the server’s key',
    binds: secrets,
  }),
  hostKeyCheck: select({
    label: 'Host key check',
    description:
      'Which key of the server is accepted if no fingerprint is set: none, or the first one and later only this one',
    options: ['fingerprint', 'first-use'],
    labels: { fingerprint: 'Compare with the fingerprint', 'first-use': 'Accept the first key' },
    default: 'fingerprint',
    binds: secrets,
  }),
})
