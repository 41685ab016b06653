import { secret, text } from '@penstock/connector'

/** How every Adikteev connector signs in. */
export const signIn = {
  email: text({
    label: 'Email',
    description: 'E-mail address that your account manager at Adikteev registered',
    required: true,
  }),
  password: secret({
    label: 'Password',
    description: 'Password that Adikteev assigned to this address',
    required: true,
  }),
}
