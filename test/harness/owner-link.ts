import assert from 'node:assert/strict'
import { openDatabase } from '../../packages/server/src/db/database.ts'
import { listOrganizations } from '../../packages/server/src/organizations/organizations.ts'
import { inviteFirstOwner } from '../../packages/server/src/users/operator.ts'

/** The path of the link that a first start prints in a terminal, which the processes of tests do not have. */
export async function ownerLink(databaseUrl: string, publicUrl: string): Promise<string> {
  const database = openDatabase({ url: databaseUrl, poolSize: 1 })
  try {
    const [organization] = await listOrganizations(database)
    assert(organization)
    const link = await database.transaction((tx) => inviteFirstOwner(tx, organization.id, { publicUrl }))
    return link.slice(publicUrl.length)
  } finally {
    await database.close()
  }
}
