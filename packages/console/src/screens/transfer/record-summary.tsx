import { Group, Progress, Stack, Text, VisuallyHidden } from '@mantine/core'
import { skipReasons, type Transfer } from '@penstock/wire'
import { bytes, count, percent } from '../../components/numbers.ts'
import { Section } from '../../components/section.tsx'
import { transferColors } from '../../components/status.tsx'
import { rejects as sayRejects } from '../../strings/rejects.ts'
import { transfer as say } from '../../strings/transfer.ts'
import { isActive } from '../connection/use-connection.ts'

/** The account of the rows: what was read is what was accepted, rejected or skipped, and nothing is lost in between. */
export function RecordSummary({
  transfer,
  resent = 0,
}: {
  transfer: Transfer
  /** How many of its rejected rows were accepted when they were resent. */
  resent?: number
}) {
  const { read, sent } = transfer.records
  const accepted = transfer.records.accepted + resent
  const rejected = transfer.records.rejected - resent
  const skipped = skippedTerms(transfer.skipped)
  const unsettled = read - accepted - rejected - skipped.reduce((sum, { n }) => sum + n, 0)
  const moves = isActive(transfer)
  return (
    <Section title={say.account} note={moves && say.soFar} fill>
      <VisuallyHidden>
        {say.equation(count(read), [
          { n: count(accepted), label: say.accepted },
          { n: count(rejected), label: say.rejected },
          ...skipped.map(({ n, label }) => ({ n: count(n), label })),
        ])}
      </VisuallyHidden>
      <Group gap="lg" align="flex-start" aria-hidden>
        <Term n={read} label={say.read} help={say.readHelp} colour="water-6" />
        <Term
          sign="="
          n={accepted}
          label={say.accepted}
          help={say.acceptedHelp}
          colour={`${transferColors.succeeded}-6`}
        />
        <Term
          sign="+"
          n={rejected}
          label={say.rejected}
          help={say.rejectedHelp}
          colour={`${transferColors.failed}-6`}
        />
        {skipped.map((term) => (
          <Term key={term.label} sign="+" colour="gray-5" {...term} />
        ))}
        {unsettled > 0 && (
          <Term sign="+" n={unsettled} label={say.unsettled} help={say.unsettledHelp} colour="gray-6" />
        )}
      </Group>
      {read > 0 && (
        <Progress.Root size={12} aria-hidden>
          <Progress.Section value={(accepted / read) * 100} color={`${transferColors.succeeded}.6`} />
          <Progress.Section value={(rejected / read) * 100} color={`${transferColors.failed}.6`} />
        </Progress.Root>
      )}
      <Stack gap={2}>
        <Text size="sm" c="dimmed">
          {moves ? say.addsUpSoFar : unsettled > 0 ? say.addsUpNot : say.addsUp}
        </Text>
        <Text size="sm" c="dimmed" className="figures">
          {say.sent(count(sent), bytes(transfer.bytes))}
        </Text>
        {resent > 0 && (
          <Text size="sm" className="figures">
            {sayRejects.resentNow(resent, count(resent), count(transfer.records.rejected))}
          </Text>
        )}
        {transfer.removed > 0 && (
          <Text size="sm" c="dimmed" className="figures">
            {say.removed(count(transfer.removed))}
          </Text>
        )}
      </Stack>
    </Section>
  )
}

/** The counts of records that were left out on purpose; none if there are none. */
const skippedTerms = (skipped: Transfer['skipped']): { n: number; label: string; help: string }[] =>
  skipReasons.flatMap((reason) => (skipped[reason] > 0 ? [{ n: skipped[reason], ...say.skipped[reason] }] : []))

function Term({
  sign,
  n,
  label,
  help,
  colour,
}: {
  /** The part before it. */
  sign?: string
  n: number
  label: string
  help: string
  colour: string
}) {
  return (
    <Group gap="lg" wrap="nowrap" align="flex-start">
      {sign && (
        <Text fz={28} c="dimmed" lh={1.3}>
          {sign}
        </Text>
      )}
      <div>
        <Text fz={{ base: 28, xs: 34 }} fw={650} lh={1.1} lts={-0.5} className="figures">
          {count(n)}
        </Text>
        <Group gap={6} mt={6} wrap="nowrap">
          <span
            style={{
              width: 10,
              height: 10,
              flex: 'none',
              borderRadius: 3,
              background: `var(--mantine-color-${colour})`,
            }}
          />
          <Text size="sm" fw={550}>
            {label}
          </Text>
        </Group>
        <Text size="xs" c="dimmed">
          {help}
        </Text>
      </div>
    </Group>
  )
}

/** How far a transfer is that has not ended. */
export function BigProgress({ transfer }: { transfer: Transfer }) {
  const { progress, status } = transfer
  const progressText =
    status === 'queued' ? say.waits : progress === null ? say.progressUnknown : say.dealtWith(percent(progress))
  const words = (
    <Text size="sm" c="dimmed" role="status" className="figures">
      {progressText}
    </Text>
  )
  return (
    <Section title={say.progress} action={words}>
      <Progress.Root size={22} radius="md">
        <Progress.Section
          value={status === 'queued' ? 0 : (progress ?? 1) * 100}
          animated={status === 'running'}
          striped={progress === null}
          aria-label={say.progress}
          aria-valuetext={progressText}
        >
          {progress !== null && progress > 0.12 && <Progress.Label>{percent(progress)}</Progress.Label>}
        </Progress.Section>
      </Progress.Root>
    </Section>
  )
}
