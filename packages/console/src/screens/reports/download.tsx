import { Button, Tooltip } from '@mantine/core'
import { csvOf, limits } from '@penstock/wire'
import { IconDownload } from '@tabler/icons-react'
import { useState } from 'react'
import { readEveryPage } from '../../api/queries.ts'
import { notifyDone, notifyFailure } from '../../components/notify.ts'
import { count } from '../../components/numbers.ts'
import { saveFile } from '../../components/save-file.ts'
import { everyReport, type VolumeOf } from '../../components/volume.ts'
import { reports as say } from '../../strings/reports.ts'

/** Saves all pages of the report that is shown as a file for spreadsheets. */
export function Download({
  of,
  by,
  disabled,
}: {
  of: VolumeOf
  /** Undefined: the sizes of audiences. */
  by: 'day' | 'month' | undefined
  disabled: boolean
}) {
  const [isBusy, setBusy] = useState(false)
  const download = async () => {
    setBusy(true)
    try {
      const [head, lines] = by === undefined ? await audienceLines(of) : await volumeLines(of, by)
      const text = csvOf([head, ...lines])
      const what = by === undefined ? 'audiences' : of.accountId ? 'connections' : 'accounts'
      saveFile(say.file(what, of.startDate, of.endDate), text, 'text/csv;charset=utf-8')
      notifyDone(say.downloaded(count(lines.length)))
    } catch (error) {
      notifyFailure(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Tooltip label={say.downloadHelp} multiline maw={280}>
      <Button
        variant="default"
        leftSection={<IconDownload size={18} aria-hidden />}
        loading={isBusy}
        disabled={disabled}
        onClick={() => void download()}
      >
        {say.download}
      </Button>
    </Tooltip>
  )
}

type Line = (string | number | null)[]

async function volumeLines(of: VolumeOf, by: 'day' | 'month'): Promise<[Line, Line[]]> {
  const { id: idColumn, name: nameColumn, [by]: periodColumn, ...figures } = say.columns
  const lines: Line[] = []
  for await (const { id, name, report } of everyReport(of)) {
    const periods =
      by === 'day'
        ? report.days.map((day) => ({ ...day, period: day.day }))
        : report.months.map((month) => ({ ...month, period: month.month }))
    for (const { period, read, accepted, rejected, replayed, bytes } of periods)
      lines.push([id, name, period, read, accepted, rejected, replayed, bytes])
  }
  const { read, accepted, rejected, replayed, bytes } = figures
  return [[idColumn, nameColumn, periodColumn, read, accepted, rejected, replayed, bytes], lines]
}

/** The first and the last measurement of each audience. */
async function audienceLines({ accountId = '', ...query }: VolumeOf): Promise<[Line, Line[]]> {
  const lines: Line[] = []
  const asked = { accountId, query: { ...query, size: limits.pageSizeMax } }
  for await (const { reply } of readEveryPage('reportAudiences', asked)) {
    for (const { connectionId, connectionName, audiences } of reply) {
      for (const { id, name, status, first, last } of audiences) {
        for (const measured of first ? [first, last] : [last]) {
          const { day, low, high, received, matched } = measured
          lines.push([connectionId, connectionName, id, name, status, day, low, high, received, matched])
        }
      }
    }
  }
  return [Object.values(say.audienceColumns), lines]
}
