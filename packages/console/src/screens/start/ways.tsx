import {
  Badge,
  Box,
  Button,
  Card,
  Group,
  SimpleGrid,
  Stack,
  Table,
  Text,
  TextInput,
  ThemeIcon,
  Title,
} from '@mantine/core'
import { limits } from '@penstock/wire'
import { IconArrowRight, IconBolt, IconFileUpload, IconPlug, IconSearch } from '@tabler/icons-react'
import { type ReactNode, useId, useState } from 'react'
import { useRead } from '../../api/queries.ts'
import { Logo, logoOfPlatform } from '../../components/connector-name.tsx'
import { count } from '../../components/numbers.ts'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { UploadButton, UploadDrop } from '../../components/upload-drop.tsx'
import { start as say } from '../../strings/start.ts'
import { faultyEvery, sampleColumns, sampleFaulty, sampleFile, samplePeople, samplePerson } from './sample-people.ts'
import classes from './start.module.css'
import type { Beginning } from './use-begin.ts'

type WayProps = { begin: Beginning; reason: string | undefined }

/** One way to start: what it is, a look at it, and its button. */
function Way({
  title,
  help,
  icon,
  badge,
  action,
  under,
  children,
}: {
  title: string
  help: string
  icon: ReactNode
  badge?: string
  action: ReactNode
  under: string
  children: ReactNode
}) {
  const id = useId()
  return (
    <Card withBorder padding="lg" component="section" aria-labelledby={id} className={classes.way}>
      <Group gap="sm" wrap="nowrap">
        <ThemeIcon variant="light" size={36} aria-hidden>
          {icon}
        </ThemeIcon>
        <Title order={2} size="h4" id={id} style={{ flex: 1 }}>
          {title}
        </Title>
        {badge && (
          <Badge variant="default" fw={500} style={{ flex: 'none' }}>
            {badge}
          </Badge>
        )}
      </Group>
      <Text size="sm">{help}</Text>
      <Box style={{ flex: 1 }}>{children}</Box>
      {action}
      <Text size="xs" c="dimmed" mih={{ md: 54 }}>
        {under}
      </Text>
    </Card>
  )
}

const shownColumns = ['id', 'email', 'born'] as const

/** People who come with the product, as a file that is uploaded. */
export function SampleWay({ begin, reason, accountId }: WayProps & { accountId: string | undefined }) {
  const { sample } = say
  const { data } = useRead('getSample', accountId === undefined ? {} : { accountId })
  // A service on another PostgreSQL creates nothing there: the people go into the wizard, as a file.
  const isMoved = data?.reply.available === true
  const isThere = data?.reply.connectionId != null
  const start = () => (isMoved ? begin.withSample(sampleFile()) : begin.withFile(sampleFile(), sample.file))
  return (
    <Way
      title={sample.title}
      badge={isMoved ? sample.fastest : sample.noAccount}
      help={isMoved ? sample.moves(count(samplePeople)) : sample.help(count(samplePeople))}
      icon={<IconBolt size={20} />}
      under={isMoved ? sample.underMoved(count(sampleFaulty)) : sample.under(count(sampleFaulty))}
      action={
        <ReasonedButton
          reason={reason}
          fullWidth
          loading={begin.busy}
          rightSection={<IconArrowRight size={18} aria-hidden />}
          disabled={data === undefined && reason === undefined}
          onClick={start}
        >
          {isThere ? sample.see : isMoved ? sample.move : sample.action}
        </ReasonedButton>
      }
    >
      <Table.ScrollContainer minWidth={0} className={classes.sample}>
        <Table fz="xs" verticalSpacing={6} horizontalSpacing={8} aria-label={sample.rows}>
          <Table.Thead>
            <Table.Tr>
              {shownColumns.map((column) => (
                <Table.Th key={column}>{column}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {[132, faultyEvery, 134].map((n) => (
              <Table.Tr key={n}>
                {shownColumns.map((column) => (
                  <Table.Td
                    key={column}
                    style={{ whiteSpace: 'nowrap' }}
                    {...(column === 'born' && n === faultyEvery ? { c: 'var(--mantine-color-error)', fw: 600 } : {})}
                  >
                    {samplePerson(n)[sampleColumns.indexOf(column)]}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Way>
  )
}

/** A file of one's own, dropped or chosen. */
export function FileWay({ begin, reason }: WayProps) {
  const { file: words } = say
  const { sending, busy } = begin
  const upload = { reason, busy, sending, onFile: (file: File) => begin.withFile(file, file.name) }
  return (
    <Way
      title={words.title}
      help={words.help}
      icon={<IconFileUpload size={20} />}
      under={words.under}
      action={<UploadButton {...upload} fullWidth />}
    >
      <UploadDrop {...upload} mih={148} />
    </Way>
  )
}

/** Sources that many people have: the names of their connectors, and what fits on a button. */
const usual = [
  ['PostgreSQL', 'PostgreSQL'],
  ['MySQL / MariaDB', 'MySQL'],
  ['Amazon S3 Source', 'Amazon S3'],
  ['Google BigQuery Source', 'BigQuery'],
  ['Snowflake Source', 'Snowflake'],
  ['SFTP Source', 'SFTP'],
] as const

/** A platform that one has already. */
export function PlatformsWay({ begin, reason, accountId }: WayProps & { accountId: string | undefined }) {
  const { platforms } = say
  const [search, setSearch] = useState('')
  const query = { size: limits.pageSizeMax }
  const { data } = useRead(
    'listConnectors',
    { accountId: accountId ?? '', query },
    { enabled: accountId !== undefined },
  )
  const found = usual.flatMap(([name, label]) => {
    const entry = data?.reply.find((one) => one.name === name && one.transfer)
    return entry ? [{ ...entry, label }] : []
  })
  const open = () => {
    if (reason === undefined) begin.withSearch(search.trim())
  }
  return (
    <Way
      title={platforms.title}
      help={platforms.help}
      icon={<IconPlug size={20} />}
      under={platforms.under}
      action={
        <ReasonedButton reason={reason} variant="default" fullWidth onClick={open}>
          {platforms.action}
        </ReasonedButton>
      }
    >
      <Stack gap="sm">
        <form
          onSubmit={(event) => {
            event.preventDefault()
            open()
          }}
        >
          <TextInput
            type="search"
            aria-label={platforms.search}
            placeholder={platforms.placeholder}
            leftSection={<IconSearch size={16} aria-hidden />}
            maxLength={limits.filterLengthMax}
            value={search}
            onChange={({ currentTarget }) => setSearch(currentTarget.value)}
          />
        </form>
        <SimpleGrid cols={2} spacing="xs">
          {found.map(({ connectorId, label, platformId }) => (
            <Button
              key={connectorId}
              variant="default"
              justify="flex-start"
              px="xs"
              fw={500}
              leftSection={<Logo src={logoOfPlatform(platformId)} size={20} />}
              disabled={begin.busy || reason !== undefined}
              onClick={() => begin.withSource(connectorId)}
            >
              {label}
            </Button>
          ))}
        </SimpleGrid>
      </Stack>
    </Way>
  )
}
