import { type Condition, text } from '@penstock/connector'

/** The content of a trust policy of a cloud, for the form of a connector that signs in by identity tokens. */
export const trustFields = (when: Condition) => ({
  identityIssuer: text({
    identity: 'issuer',
    readonly: true,
    when,
    label: 'Issuer to trust',
    description: 'Address of this service in its tokens, which the cloud must be able to reach',
  }),
  identitySubject: text({
    identity: 'subject',
    readonly: true,
    when,
    label: 'Subject to trust',
    description: 'This sub-account in the tokens. Trust only this subject',
  }),
})

/** A field for the audience of the tokens. @param usual the audience that the cloud expects by default */
export const audienceField = (when: Condition, usual: string, description: string) =>
  text({
    keepsState: 'credential',
    label: 'Token audience',
    description,
    max: 500,
    default: usual,
    wrong: (value) => (/^[\x21-\x7e]+$/.test(value) ? undefined : 'must not contain spaces or special characters'),
    when,
  })
