import { Badge, Chip, Group } from '@mantine/core'
import { useAddress } from '../../components/address.ts'
import { count } from '../../components/numbers.ts'
import { connections as say } from '../../strings/connections.ts'
import { type Ending, endings, useEnded } from './use-connections.ts'

const colors: Readonly<Record<Ending, string>> = { failing: 'red', transfer_partial: 'yellow' }

/** Picks all connections, or the ones whose newest transfer ended badly, and shows how many there are. */
export function Endings({ accountId }: { accountId: string | undefined }) {
  const { value, change } = useAddress()
  const pick = (last: string | string[]) =>
    change({ last: String(last), q: '', status: '', tags: '', owner: '', sort: '', group: '', account: '' })
  return (
    <Chip.Group value={value('last')} onChange={pick}>
      <Group gap="xs" role="radiogroup" aria-label={say.endings}>
        <Chip value="" variant="outline" size="sm">
          {say.all}
        </Chip>
        {endings.map((ending) => (
          <Chip key={ending} value={ending} variant="outline" size="sm">
            {say.ended[ending]}
            <Count accountId={accountId} ending={ending} />
          </Chip>
        ))}
      </Group>
    </Chip.Group>
  )
}

function Count({ accountId, ending }: { accountId: string | undefined; ending: Ending }) {
  const n = useEnded(accountId, ending)
  // It has its place before it is known, so that nothing moves.
  return (
    <Badge
      ml={6}
      size="sm"
      variant="light"
      color={n ? colors[ending] : 'gray'}
      autoContrast
      style={n === undefined ? { visibility: 'hidden' } : {}}
    >
      {count(n ?? 0)}
    </Badge>
  )
}
