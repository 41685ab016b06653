import { Alert, Badge, Code, Group, Stack, Table, Text } from '@mantine/core'
import type { DestinationTrial } from '@penstock/wire'
import { IconAlertTriangle, IconSend } from '@tabler/icons-react'
import { useForbidden } from '../../api/me.ts'
import { Lines } from '../../components/loaded.tsx'
import { count } from '../../components/numbers.ts'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { buildOperation as say } from '../../strings/build-operation.ts'
import { buildSource as sayAnswer } from '../../strings/build-source.ts'
import { AnswerStatus } from './answer-status.tsx'
import classes from './build-source.module.css'
import { CodeInput } from './code-input.tsx'
import { Panel } from './panel.tsx'
import type { TriedRows, useTry } from './use-try.ts'

const colors = { accepted: 'teal', rejected: 'red', unknown: 'yellow' } as const

/** A few rows that are sent, and the result of each. */
export function TryPanel({
  columns,
  parameters,
  text,
  trial,
}: {
  /** The names of the columns. */
  columns: readonly string[]
  /** The names of the parameters of the operation. */
  parameters: readonly string[]
  /** The text of the definition as it is now. */
  text: string
  trial: ReturnType<typeof useTry>
}) {
  const { rows, sent, setCell, send, trying, tried } = trial
  const forbidden = useForbidden('tryDestination')
  const reason = forbidden ?? (columns.length === 0 ? say.noColumns : sent.length === 0 ? say.noValues : undefined)
  return (
    <Panel
      step={4}
      title={say.try}
      actions={
        <ReasonedButton
          size="xs"
          reason={reason}
          loading={trying}
          leftSection={<IconSend size={14} aria-hidden />}
          onClick={() => void send()}
        >
          {say.send(Math.max(1, sent.length))}
        </ReasonedButton>
      }
    >
      <Text size="xs" c="dimmed">
        {say.tryHelp}
      </Text>
      {parameters.map((name) => (
        <CodeInput
          key={name}
          label={say.parameterOf(name)}
          value={trial.parameters[name] ?? ''}
          onChange={(value) => trial.setParameter(name, value)}
        />
      ))}
      {columns.length > 0 && (
        <Table.ScrollContainer minWidth={360} className={classes.columns}>
          <Table fz="xs" verticalSpacing={4} aria-label={say.try}>
            <Table.Thead>
              <Table.Tr>
                <Table.Td />
                {rows.map((_, at) => (
                  // A row has no identity but its place.
                  // biome-ignore lint/suspicious/noArrayIndexKey: as above
                  <Table.Th key={at}>{say.rowNumber(at + 1)}</Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {columns.map((column) => (
                <Table.Tr key={column}>
                  <Table.Th scope="row" ff="monospace" miw={90} style={{ overflowWrap: 'anywhere' }}>
                    {column}
                  </Table.Th>
                  {rows.map((row, at) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: as above
                    <Table.Td key={at}>
                      <CodeInput
                        aria-label={say.cell(column, at + 1)}
                        value={row[column] ?? ''}
                        onChange={(value) => setCell(at, column, value)}
                      />
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      <Stack gap="sm" aria-live="polite" aria-busy={trying}>
        {tried && (tried.text !== text || tried.rows !== rows) && (
          <Text size="sm" c="dimmed" role="status">
            {say.stale}
          </Text>
        )}
        {tried ? <Results tried={tried} /> : trying && <Lines lines={4} />}
      </Stack>
    </Panel>
  )
}

function Results({ tried: { reply, sent } }: { tried: TriedRows }) {
  const { rows, exchanges, error } = reply
  return (
    <>
      {error && (
        <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title={say.notDelivered} role="alert">
          {error.message}
        </Alert>
      )}
      <Stack gap={6} component="ul" p={0} m={0} aria-label={say.results} style={{ listStyle: 'none' }}>
        {rows.map(({ state, reason }, at) => (
          <Group key={sent[at]} component="li" gap="xs" align="flex-start">
            <Text size="sm" fw={500}>
              {say.rowNumber((sent[at] ?? at) + 1)}
            </Text>
            <Badge variant="dot" color={colors[state]} fw={600}>
              {say.states[state]}
            </Badge>
            {reason && (
              <Text size="sm" style={{ overflowWrap: 'anywhere', flex: '1 1 12rem' }}>
                {reason}
              </Text>
            )}
          </Group>
        ))}
      </Stack>
      {exchanges.length === 0 && (
        <Text size="sm" c="dimmed">
          {say.noRequest}
        </Text>
      )}
      {exchanges.map((exchange, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a request has no identity but its place
        <Exchange key={at} number={at + 1} exchange={exchange} />
      ))}
    </>
  )
}

/** A request and its answer, each with its body. */
function Exchange({ number, exchange }: { number: number; exchange: DestinationTrial['exchanges'][number] }) {
  const { request, answer } = exchange
  return (
    <Stack gap={4}>
      <Text size="xs" ff="monospace" fw={600} style={{ overflowWrap: 'anywhere' }}>
        {request.method} {request.url}
      </Text>
      <Body label={say.requestOf(number)} text={request.text} />
      <AnswerStatus {...answer} />
      {answer.entriesMax !== null && (
        <Text size="xs" c="dimmed">
          {sayAnswer.cut(count(answer.entriesMax))}
        </Text>
      )}
      <Body label={say.responseOf(number)} text={answer.text} />
    </Stack>
  )
}

const Body = ({ label, text }: { label: string; text: string }) =>
  text === '' ? null : (
    <Code block className={classes.body} tabIndex={0} role="region" aria-label={label}>
      {indented(text)}
    </Code>
  )

/** JSON on several lines; any other text as it is. Numbers keep their digits, since only space is added. */
function indented(text: string): string {
  if (!/^\s*[[{]/.test(text) || text.length > 100_000) return text
  let depth = 0
  const lineBreak = () => `\n${'  '.repeat(Math.max(0, depth))}`
  return text.replace(/"(?:[^"\\]|\\.)*"|[[\]{},:]/g, (token) => {
    if (token === '{' || token === '[') {
      depth++
      return token + lineBreak()
    }
    if (token === '}' || token === ']') {
      depth--
      return lineBreak() + token
    }
    if (token === ',') return token + lineBreak()
    return token === ':' ? ': ' : token
  })
}
