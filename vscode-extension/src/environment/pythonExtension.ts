import * as vscode from "vscode";

/** What we use of the public interface of the Python extension. */
interface PythonApi {
  readonly environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { readonly path: string };
    resolveEnvironment(
      environment: { readonly path: string },
    ): Promise<{ readonly executable: { readonly uri?: vscode.Uri } } | undefined>;
  };
}

/** The interpreter chosen in the Python extension for a resource; undefined without that extension. */
export async function selectedInterpreter(resource: vscode.Uri | undefined): Promise<string | undefined> {
  const extension = vscode.extensions.getExtension<PythonApi>("ms-python.python");
  if (extension === undefined) {
    return undefined;
  }
  try {
    const { environments } = await extension.activate();
    const environment = await environments.resolveEnvironment(environments.getActiveEnvironmentPath(resource));
    return environment?.executable.uri?.fsPath;
  } catch {
    // Another extension that fails is no reason for ours to fail: the other places are looked at.
    return undefined;
  }
}
