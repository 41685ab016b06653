import type { Egress } from '@penstock/connector'
import { openAws } from './aws.ts'
import { openAzure } from './azure.ts'
import { openGoogle } from './google.ts'
import type { ManagerAccess, OpenedManager } from './manager-access.ts'
import { openVault } from './vault.ts'

export type { ManagerAccess, OpenedManager } from './manager-access.ts'

/** Reads secrets from the secret managers of the deployment. Contacts nothing before the first secret is read. */
export function openManager(access: ManagerAccess, egress: Egress): OpenedManager {
  switch (access.type) {
    case 'vault':
      return openVault(access, egress)
    case 'aws':
      return openAws(access, egress)
    case 'google':
      return openGoogle(access, egress)
    case 'azure':
      return openAzure(access, egress)
  }
}
