import { type Condition, text } from '@penstock/connector'

const uuid = /^\s*[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\s*$/i
const wrong = (value: string) =>
  uuid.test(value) ? undefined : 'must be an identifier such as 6f3c2b10-0d4e-4856-9f1a-3f9c2b7a10d4'

/** The application of Microsoft Entra ID that trusts the identity of the sub-account. */
export const applicationFields = (when: Condition) => ({
  directoryId: text({
    keepsState: 'credential',
    identity: 'target',
    label: 'Tenant ID',
    description: 'Directory (tenant) ID of the application in Microsoft Entra ID',
    required: true,
    when,
    wrong,
  }),
  clientId: text({
    keepsState: 'credential',
    identity: 'target',
    label: 'Client ID',
    description: 'Application (client) ID of the application that trusts this service',
    required: true,
    when,
    wrong,
  }),
})
