import { secret, text } from '@penstock/connector'

/** The server, and the credentials. */
export const signIn = {
  address: text({
    label: 'Address',
    description: 'URL of the HTTP interface, such as https://clickhouse.example.com:8443',
    required: true,
    binds: ['password'],
  }),
  user: text({ keepsState: 'credential', label: 'User', description: 'Name of the database user', required: true }),
  password: secret({ label: 'Password', description: 'Password of this user', required: true }),
}
