import { Badge, Group, Text } from '@mantine/core'
import type { DestinationTrial } from '@penstock/wire'
import { count } from '../../components/numbers.ts'
import { buildSource as say } from '../../strings/build-source.ts'

/** The status of an answer, how long it took, and its size. */
export const AnswerStatus = ({ status, durationMs, bytes }: Pick<Answer, 'status' | 'durationMs' | 'bytes'>) => (
  <Group gap="xs">
    <Badge variant="dot" color={status < 300 ? 'teal' : 'red'} fw={600}>
      {status}
    </Badge>
    <Text size="xs" c="dimmed" className="figures">
      {say.summary(count(durationMs), sizeOf(bytes))}
    </Text>
  </Group>
)

/** The answer to a request of a source or a destination. */
type Answer = DestinationTrial['exchanges'][number]['answer']

const sizeOf = (bytes: number): string =>
  bytes < 1_024
    ? `${count(bytes)} B`
    : bytes < 1_048_576
      ? `${count(Math.round(bytes / 1_024))} KiB`
      : `${(bytes / 1_048_576).toFixed(1)} MiB`
