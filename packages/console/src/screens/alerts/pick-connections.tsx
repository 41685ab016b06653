import { limits } from '@penstock/wire'
import { useRead } from '../../api/queries.ts'
import { PickFound, useSearchText } from '../../components/pick-found.tsx'
import { alerts as say } from '../../strings/alerts.ts'

/** Asks for some connections, of a sub-account or of the organization; none are all. */
export function PickConnections({
  accountId,
  value,
  error,
  onChange,
}: {
  accountId: string | undefined
  value: readonly string[]
  error: string | undefined
  onChange: (connectionIds: readonly string[]) => void
}) {
  const search = useSearchText()
  const found = useRead('listConnections', { accountId, query: search.query }, { keep: true })
  return (
    <PickFound
      search={search}
      found={found.data?.reply.filter(({ deleted }) => !deleted)}
      label={say.connections}
      description={say.connectionsHelp}
      placeholder={say.connectionsSearch}
      nothingFoundMessage={say.connectionsNone}
      maxValues={limits.alertConnectionsMax}
      value={value}
      error={error}
      onChange={onChange}
    />
  )
}
