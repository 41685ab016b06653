import { Alert, Button, Group, Text } from '@mantine/core'
import { IconArrowRight } from '@tabler/icons-react'
import { Link } from 'react-router'
import { useAddress } from '../../components/address.ts'
import { pathOf } from '../../shell/account.ts'
import { route as say } from '../../strings/catalogue.ts'
import { useCatalogue } from './use-catalogue.ts'

/** Names the destinations for which a sentence of the catalogue wants a connection after this one. */
export function NextDestinations({
  accountId,
  sourceId,
  isCreated,
}: {
  accountId: string
  sourceId: string
  /** Whether this connection is there, so that the next one can be made. */
  isCreated: boolean
}) {
  const ids = useAddress().value('then').split(',').filter(Boolean)
  const { connectors } = useCatalogue(accountId)
  const nameOf = (id: string) => connectors?.find(({ connectorId }) => connectorId === id)?.name
  const names = ids.flatMap((id) => nameOf(id) ?? [])
  const source = nameOf(sourceId)
  if (names.length === 0 || source === undefined) return null
  const next = new URLSearchParams({ q: say.from(source, names) })
  return (
    <Alert color="water" icon={<IconArrowRight aria-hidden />} title={say.nextOnes(names)}>
      <Group gap="sm" justify="space-between">
        <Text size="sm">{say.thenHelp}</Text>
        {isCreated && (
          <Button component={Link} size="compact-sm" variant="default" to={`${pathOf(accountId, 'catalogue')}?${next}`}>
            {say.thenNow}
          </Button>
        )}
      </Group>
    </Alert>
  )
}
