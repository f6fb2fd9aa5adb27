/** Reads what a program prints as it prints it, and how it ended. */
import { ApiError, Unreachable } from './http';
import { Dropped, readFrames } from './stream';
import type { CodePrinted, CodeResult, ErrorBody } from './wire';

/** Calls `onprint` with each piece of output. The result has all of it. */
export async function readCodeStream(
	response: Response,
	onprint: (text: string) => void
): Promise<CodeResult> {
	if (response.body === null) throw new Unreachable();
	try {
		for await (const { event, data } of readFrames(response.body)) {
			if (event === 'printed') onprint((JSON.parse(data) as CodePrinted).text);
			else if (event === 'result') return JSON.parse(data) as CodeResult;
			else if (event === 'error') throw toError((JSON.parse(data) as ErrorBody).error);
		}
	} catch (error) {
		if (error instanceof Dropped) throw new Unreachable();
		throw error;
	}
	throw new Unreachable();
}

const toError = ({ message, code, param }: ErrorBody['error']) =>
	new ApiError(message, 503, code ?? null, param ?? null);
