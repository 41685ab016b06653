import { Chip, Group, Text } from '@mantine/core'
import type { Reject } from '@penstock/wire'
import { useAddress } from '../../components/address.ts'
import { count } from '../../components/numbers.ts'
import { transfer as say } from '../../strings/transfer.ts'

/** Reasons are sentences, which may be wider than a phone. */
const wrapped = {
  label: { height: 'auto', minHeight: 'var(--chip-size)', whiteSpace: 'normal', lineHeight: 1.3 },
} as const

/** Why records were rejected and how many for each reason; picking one keeps those. */
export function ReasonFilter({ rejects }: { rejects: readonly Reject[] }) {
  const { value, change } = useAddress()
  const counts = new Map<string, number>()
  for (const reject of rejects) counts.set(reject.reason, (counts.get(reject.reason) ?? 0) + reject.count)
  const reasons = [...counts].sort(([, one], [, other]) => other - one)
  return (
    <Chip.Group value={value('reason')} onChange={(reason) => change({ reason: String(reason) })}>
      <Group gap="xs" role="group" aria-label={say.reasons}>
        <Chip value="" size="sm" variant="outline">
          {say.every}
        </Chip>
        {reasons.map(([reason, n]) => (
          <Chip key={reason} value={reason} size="sm" variant="outline" styles={wrapped}>
            {reason}{' '}
            <Text span inherit fw={650}>
              {say.times(count(n))}
            </Text>
          </Chip>
        ))}
      </Group>
    </Chip.Group>
  )
}
